import type { FastifyInstance } from "fastify";
import { authenticate } from "../accounts/index.ts";
import { ApiError } from "../api-error.ts";
import type { Deps } from "../deps.ts";

/** The feed of a stream's events: the log is kept, its feed is not served yet. */
export function eventRoutes(app: FastifyInstance, deps: Deps): void {
  for (const prefix of ["/data", "/api/data"]) {
    app.get(`${prefix}/stream/:id/events`, { schema: { hide: true } }, async (request) => {
      await authenticate(deps, request);
      throw new ApiError(501, "not-implemented", "the event feed is not served yet; the events are kept and will be");
    });
  }
}
