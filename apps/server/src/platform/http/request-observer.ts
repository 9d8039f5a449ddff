import type { FastifyInstance, FastifyRequest } from "fastify";
import type { LabelledCounter } from "../metrics/metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";

export interface RequestObserver {
  readonly tracing: Tracing;
  /** Requests by method, route and class of status (`2xx`). */
  readonly requests: LabelledCounter;
}

/** Counts and traces an app's requests. URLs may contain tokens and ids, so it records only the route's template. */
export function observeRequests(app: FastifyInstance, { tracing, requests }: RequestObserver): void {
  app.addHook("onRequest", (request, _reply, go) => {
    const { traceparent } = request.headers;
    const described = { method: request.method, route: routeOf(request) };
    tracing.begin(
      request.raw,
      { ...described, traceparent: typeof traceparent === "string" ? traceparent : undefined },
      go,
    );
  });
  app.addHook("onResponse", async (request, { statusCode }) => {
    requests.add([request.method, routeOf(request), `${Math.floor(statusCode / 100)}xx`]);
    tracing.end(request.raw, statusCode);
  });
}

function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? "none";
}
