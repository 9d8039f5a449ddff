/** Words of ours alone: never a key, a token, a customer's address or text. */
export type StepAttributes = Readonly<Record<string, string | number | boolean>>;

export interface TracedRequest {
  readonly method: string;
  /** The route's template, never the address itself. */
  readonly route: string;
  /** W3C Trace Context of who asks. */
  readonly traceparent: string | undefined;
}

/** Where the time goes, for a collector of traces. Without one, `noTracing` does nothing at all. */
export interface Tracing {
  /** Run `action` as one step of the trace at hand, or of a new one. */
  step<Result>(name: string, attributes: StepAttributes, action: () => Promise<Result>): Promise<Result>;
  /** A request begins; what `go` starts belongs to its trace. `key` is the request's own object. */
  begin(key: object, request: TracedRequest, go: () => void): void;
  /** The request of this key is answered. */
  end(key: object, status: number): void;
  /** Send what is still here, for 2 s at most. */
  close(): Promise<void>;
}

export const noTracing: Tracing = {
  step: (_name, _attributes, action) => action(),
  begin: (_key, _request, go) => go(),
  end: () => {},
  close: async () => {},
};
