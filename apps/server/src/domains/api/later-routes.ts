import { laterRoutes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { NotImplemented } from "./api-error.ts";

/** Routes that clients know and this server does not implement yet: 501 with a sentence. The API's description leaves them out. */
export function addLaterRoutes(app: FastifyInstance): void {
  for (const { method, path, what } of laterRoutes) {
    app.route({
      method,
      url: path,
      handler: async () => {
        throw new NotImplemented(`this server has no ${what} yet`);
      },
    });
  }
}
