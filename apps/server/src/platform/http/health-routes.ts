import type { FastifyInstance } from "fastify";
import { PURPOSES, type Readiness } from "../readiness.ts";

/**
 * `/healthz`: the process answers. `/readyz`: the process should receive traffic; otherwise 503 with the reasons. `/readyz/{purpose}`: the same for one
 * kind of traffic, for a balancer that has a list of each.
 */
export function addHealthRoutes(app: FastifyInstance, readiness: Readiness): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  for (const purpose of [undefined, ...PURPOSES]) {
    app.get(purpose ? `/readyz/${purpose}` : "/readyz", async (_request, reply) => {
      const report = await readiness.report(purpose);
      return reply
        .code(report.isReady ? 200 : 503)
        .header("cache-control", "no-store")
        .send(report);
    });
  }
}
