import { routes, type StreamHealth } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes, NotFound } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { type EventLog, ownsLog } from "../events/index.ts";
import { streamSubject } from "../subject.ts";
import { HealthViews } from "./health-views.ts";

export interface HealthRouteDeps extends Deps {
  readonly events: EventLog;
}

/** How streams are, at both addresses of the data API. A stream without events has a record with nothing known. */
export function healthRoutes(app: FastifyInstance, deps: HealthRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const views = new HealthViews(deps);
  for (const route of [routes.getStreamHealth, routes.getStreamHealthOutsideApi]) {
    api.on(route, async ({ principal, id }): Promise<StreamHealth> => {
      if (!(await ownsLog(deps.db, principal, streamSubject(id)))) throw new NotFound("stream not found");
      return views.of(id);
    });
  }
}
