import type { ErrorCode } from "@weir/contract";

/** The kinds of errors that this client itself reports: nobody answered, nobody answered in time, or an asset could not be processed. */
export type ClientErrorCode = "unreachable" | "timeout" | "asset-failed";

/** The kind of an error. Servers may add codes, so any other text is possible. Null if a response names none. */
export type WeirErrorCode = ErrorCode | ClientErrorCode | (string & {}) | null;

/** What a response says about its failure, besides its status and sentences. */
export interface WeirErrorDetails extends ErrorOptions {
  readonly code?: WeirErrorCode;
  readonly requestId?: string | null;
  readonly retryAfterMs?: number | null;
}

/**
 * A failed call: the server refused it, or did not answer.
 *
 * @example
 * try {
 *   await weir.streams.get("unknown");
 * } catch (error) {
 *   if (!(error instanceof WeirError) || error.code !== "not-found") throw error;
 *   console.log(`no such stream (request ${error.requestId})`);
 * }
 */
export class WeirError extends Error {
  override readonly name = "WeirError";
  /** HTTP status of the response; 0 if there was none. */
  readonly status: number;
  /** The server's sentences, one per error, ready to show. */
  readonly errors: readonly string[];
  /** The kind of error, for programs: `not-found`, `too-many-requests` … */
  readonly code: WeirErrorCode;
  /** The request's id in the server's log. Null if there was no response, or another server responded. */
  readonly requestId: string | null;
  /** How long the server asks callers to wait before they retry. Null if it does not say. */
  readonly retryAfterMs: number | null;

  constructor(
    status: number,
    errors: readonly string[],
    { code = null, requestId = null, retryAfterMs = null, ...options }: WeirErrorDetails = {},
  ) {
    super(errors.join("; "), options);
    this.status = status;
    this.errors = errors;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Turns a non-2xx response into a WeirError. Reads the body `{ "errors", "message", "code", "requestId" }`, and accepts any other. */
export async function errorOf(request: string, response: Response): Promise<WeirError> {
  const body = await response.json().catch(() => null);
  const { errors, message, code, requestId } = (typeof body === "object" && body !== null ? body : {}) as Body;
  const sentences = textsIn(errors);
  // The one error of a failed validation is an object in JSON text; its sentence is the message.
  const shown = typeof message === "string" && sentences.length <= 1 ? [message] : sentences;
  const { status, statusText, headers } = response;
  return new WeirError(
    status,
    shown.length > 0 ? shown : [`${request} was answered ${status} ${statusText}`.trimEnd()],
    {
      code: typeof code === "string" ? code : null,
      requestId: typeof requestId === "string" ? requestId : headers.get("x-request-id"),
      retryAfterMs: retryAfterIn(headers.get("retry-after")),
    },
  );
}

type Body = Readonly<Record<"errors" | "message" | "code" | "requestId", unknown>>;

const textsIn = (errors: unknown): string[] =>
  Array.isArray(errors) ? errors.filter((entry) => typeof entry === "string") : [];

/** Seconds, or a date (RFC 9110, 10.2.3). */
function retryAfterIn(text: string | null): number | null {
  if (text === null) return null;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
