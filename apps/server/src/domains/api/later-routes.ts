import { ErrorBody, laterRoutes } from "@weir/contract";
import type { FastifyInstance } from "fastify";

/** Routes that clients know and this server does not implement yet: 501 with a sentence. They are part of the API's description. */
export function addLaterRoutes(app: FastifyInstance): void {
  for (const { method, path, what } of laterRoutes) {
    app.route({
      method,
      url: path,
      schema: { summary: `Not there yet: ${what}`, response: { 401: ErrorBody, 403: ErrorBody, 501: ErrorBody } },
      // Answered, not thrown, because it is not a failure that belongs in the log.
      handler: async (_request, reply) => reply.code(501).send({ errors: [`this server has no ${what} yet`] }),
    });
  }
}
