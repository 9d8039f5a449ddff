import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { StepAttributes, TracedRequest, Tracing } from "./tracing.ts";

/** W3C Trace Context, 3.2: version 00. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Steps and requests as spans. The asynchronous context knows the current trace. */
export class OtelTracing implements Omit<Tracing, "close"> {
  readonly #tracer: Tracer;
  readonly #here = new AsyncLocalStorage<Context>();
  readonly #requests = new WeakMap<object, Span>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  async step<Result>(name: string, attributes: StepAttributes, action: () => Promise<Result>): Promise<Result> {
    const parent = this.#here.getStore() ?? ROOT_CONTEXT;
    const span = this.#tracer.startSpan(name, { attributes }, parent);
    try {
      return await this.#here.run(trace.setSpan(parent, span), action);
    } catch (error) {
      // The error's class only: its message may quote data from a client.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : "unknown" });
      throw error;
    } finally {
      span.end();
    }
  }

  begin(key: object, { method, route, traceparent }: TracedRequest, go: () => void): void {
    const asker = traceparent === undefined ? null : remoteContext(traceparent);
    const parent = asker ? trace.setSpanContext(ROOT_CONTEXT, asker) : ROOT_CONTEXT;
    const attributes = { "http.request.method": method, "http.route": route };
    const span = this.#tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
    this.#requests.set(key, span);
    this.#here.run(trace.setSpan(parent, span), go);
  }

  end(key: object, status: number): void {
    const span = this.#requests.get(key);
    if (!span) return;
    this.#requests.delete(key);
    span.setAttribute("http.response.status_code", status);
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }
}

function remoteContext(traceparent: string): SpanContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}
