import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes, answerPage, parseListQuery, textOf } from "../api/index.ts";
import { TargetService, type TargetServiceDeps } from "./target-service.ts";
import { targetFields } from "./target-store.ts";

export function targetRoutes(app: FastifyInstance, deps: TargetServiceDeps): void {
  const api = new ApiRoutes(app, deps);
  const targets = new TargetService(deps);

  api.on(routes.createTarget, async ({ principal, body }) => targets.create(principal, body));
  api.on(routes.getTarget, async ({ principal, id }) => targets.get(principal, id));
  api.on(routes.patchTarget, async ({ principal, id, body }) => targets.patch(principal, id, body));
  api.on(routes.deleteTarget, async ({ principal, id }) => targets.delete(principal, id));
  api.on(routes.listTargets, async ({ principal, query, origin, url }, reply) => {
    const list = parseListQuery(query, targetFields, "createdAt-true");
    const page = await targets.list(principal, list, textOf(query.userId));
    return answerPage(reply, page, { origin, url });
  });
}
