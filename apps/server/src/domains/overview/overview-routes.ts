import { type Overview, routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { countStreams, countWebhooks } from "./overview-store.ts";

/** Current usage of this machine. */
export type Headroom = Pick<Overview, "disk" | "transcoding">;

export interface OverviewDeps extends Deps {
  headroom(): Headroom;
}

/** The figures on the dashboard's first page. */
export function overviewRoutes(app: FastifyInstance, deps: OverviewDeps): void {
  const api = new ApiRoutes(app, deps);

  api.on(routes.getOverview, async ({ principal }): Promise<Overview> => {
    const [streams, webhooks] = await Promise.all([
      countStreams(deps.db, principal),
      countWebhooks(deps.db, principal),
    ]);
    return { streams, webhooks, ...deps.headroom() };
  });
}
