import { ErrorBody, laterRoutes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { authenticate } from "./accounts/index.ts";
import type { Deps } from "./deps.ts";

/** What clients know and this server does not have yet: 501 with a sentence, and part of the API's description. */
export function addLaterRoutes(app: FastifyInstance, deps: Deps): void {
  for (const { method, path, what } of laterRoutes) {
    app.route({
      method,
      url: path,
      schema: { summary: `Not there yet: ${what}`, response: { 401: ErrorBody, 403: ErrorBody, 501: ErrorBody } },
      onRequest: async (request) => void (await authenticate(deps, request)),
      // Answered, not thrown: it is no failure of this server that belongs into its log.
      handler: async (_request, reply) => reply.code(501).send({ errors: [`this server has no ${what} yet`] }),
    });
  }
}
