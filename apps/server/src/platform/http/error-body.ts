/** A failed request, as its sender is told. */
export interface ErrorAnswer {
  /** One of the API's list of codes. */
  readonly code: string;
  /** What happened, to which thing, and what to do. */
  readonly message: string;
  /** Absent where the body is the same for all: the header has it. */
  readonly requestId?: string;
  /** The validator's own object as JSON, which clients of the public API expect in place of the sentence. */
  readonly validation?: string;
  /** Address of a page that helps; by default, of the page about the code. A body without a request id has none. */
  readonly docs?: string;
}

/** The body of every error response of the API. */
export const errorBody = ({
  code,
  message,
  requestId,
  validation,
  docs = requestId === undefined ? undefined : `/docs/errors/${code}`,
}: ErrorAnswer) => ({
  errors: [validation ?? message],
  message,
  code,
  ...(requestId === undefined ? {} : { requestId }),
  ...(docs === undefined ? {} : { docs }),
});
