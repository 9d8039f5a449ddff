import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes } from "../api-routes.ts";
import { answerPage } from "../list-answer.ts";
import { parseListQuery } from "../list-query.ts";
import { StreamService, type StreamServiceDeps } from "./stream-service.ts";
import { streamFields } from "./stream-store.ts";

const LATEST_FIRST = "lastSeen-true,createdAt-true";

export interface StreamRouteDeps extends StreamServiceDeps {
  publicUrl(): string;
}

export function streamRoutes(app: FastifyInstance, deps: StreamRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const streams = new StreamService(deps);

  api.on(routes.createStream, async ({ principal, body }) => streams.create(principal, body));
  api.on(routes.getStream, async ({ principal, id }) => streams.get(principal, id));
  api.on(routes.patchStream, async ({ principal, id, body }) => streams.patch(principal, id, body));
  api.on(routes.deleteStream, async ({ principal, id }) => streams.delete(principal, [id]));
  api.on(routes.deleteStreams, async ({ principal, body }) => streams.delete(principal, body.ids), {
    mayBeEmpty: true,
  });
  api.on(routes.terminateStream, async ({ principal, id }) => streams.terminate(principal, id));
  api.on(routes.testBroadcast, async ({ principal, id, body }) => streams.testBroadcast(principal, id, body), {
    mayBeEmpty: true,
  });
  api.on(routes.listStreams, async ({ principal, query, url }, reply) => {
    const activeOnly = query.active !== undefined && query.active !== "false";
    const page = await streams.list(principal, parseListQuery(query, streamFields, LATEST_FIRST), activeOnly);
    return answerPage(reply, page, { origin: deps.publicUrl(), url });
  });
}
