import type { FastifyInstance } from "fastify";
import type { Readiness } from "../readiness.ts";

/** `/healthz`: the process answers. `/readyz`: the process should receive traffic; otherwise 503 with the reasons. */
export function addHealthRoutes(app: FastifyInstance, readiness: Readiness): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const report = await readiness.report();
    return reply
      .code(report.isReady ? 200 : 503)
      .header("cache-control", "no-store")
      .send(report);
  });
}
