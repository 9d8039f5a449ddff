import { ErrorBody, laterRoutes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { NotImplemented } from "./api-error.ts";

/** Routes that clients know and this server does not implement yet: 501 with a sentence. They are part of the API's description. */
export function addLaterRoutes(app: FastifyInstance): void {
  for (const { method, path, what } of laterRoutes) {
    app.route({
      method,
      url: path,
      schema: { summary: `Not there yet: ${what}`, response: { 401: ErrorBody, 403: ErrorBody, 501: ErrorBody } },
      handler: async () => {
        throw new NotImplemented(`this server has no ${what} yet`);
      },
    });
  }
}
