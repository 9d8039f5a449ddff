/** Words of the code only: never a key, a token, a customer's URL or text. */
export type StepAttributes = Readonly<Record<string, string | number | boolean>>;

export interface TracedRequest {
  readonly method: string;
  /** The route's template, never the URL itself. */
  readonly route: string;
  /** W3C Trace Context of the caller. */
  readonly traceparent: string | undefined;
}

/** Spans of work for a trace collector. Without one, `noTracing` does nothing at all. */
export interface Tracing {
  /** Run `action` as one step of the current trace, or of a new one. */
  step<Result>(name: string, attributes: StepAttributes, action: () => Promise<Result>): Promise<Result>;
  /** A request begins; everything that `go` starts belongs to its trace. `key` is the request's own object. */
  begin(key: object, request: TracedRequest, go: () => void): void;
  /** The request of this key has been answered. */
  end(key: object, status: number): void;
  /** Send the remaining spans, within 2 s. */
  close(): Promise<void>;
}

export const noTracing: Tracing = {
  step: (_name, _attributes, action) => action(),
  begin: (_key, _request, go) => go(),
  end: () => {},
  close: async () => {},
};
