import type { ErrorCode, Route } from "@weir/contract";
import { errorsOf } from "@weir/contract/descriptions";
import type { FastifyInstance } from "fastify";
import { describedRoutes } from "./described-routes.ts";

const documented = new Map<Route, readonly string[]>(
  describedRoutes.map(({ route, description }) => [route, errorsOf(route, description)]),
);

/** For tests: collects the errors that operations answer and their descriptions do not name. */
export function findUndocumentedErrors(app: FastifyInstance): string[] {
  const found: string[] = [];
  app.addHook("onSend", async (request, reply, payload) => {
    const { route } = request.routeOptions.config as { route?: Route };
    const known = route && documented.get(route);
    // The dashboard's cookie reaches other projects by `?projectId=`, which is no part of the public API.
    if (!known || reply.statusCode < 400 || request.headers.cookie !== undefined) return;
    const { code } = JSON.parse(String(payload)) as { code?: ErrorCode };
    if (!known.includes(String(code))) found.push(`${route.method} ${route.path} answers ${reply.statusCode} ${code}`);
  });
  return found;
}
