import { routes, type UsageMetric } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes, BadRequest, parseStretch, type RawQuery, textOf } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import { MAX_ROWS, readUsage, type UsageQuery } from "./usage-store.ts";

/** Minutes that a project has transcoded, delivered and stored. */
export function usageRoutes(app: FastifyInstance, deps: Deps): void {
  const api = new ApiRoutes(app, deps);
  for (const route of [routes.getUsage, routes.getUsageOutsideApi])
    api.on(route, async ({ principal, query }): Promise<UsageMetric | UsageMetric[]> => {
      const asked = parseUsageQuery(query, deps.clock.now());
      const rows = await readUsage(deps.db, principal, asked);
      if (rows.length > MAX_ROWS)
        throw new BadRequest(`more than ${MAX_ROWS} rows: ask for a shorter time or longer steps`);
      // Clients take one object where nothing is broken down.
      const [whole] = rows;
      return asked.step === null && !asked.isByCreator && whole ? whole : rows;
    });
}

function parseUsageQuery(query: RawQuery, now: number): UsageQuery {
  const { step, ...stretch } = parseStretch(query, now);
  if (step !== null && step !== "hour" && step !== "day") throw new BadRequest("timeStep is one of hour, day");
  const given = [query.breakdownBy, query["breakdownBy[]"]].flat().filter((value) => value !== undefined);
  const names = given.flatMap((value) => String(value).split(","));
  if (names.some((name) => name !== "creatorId")) throw new BadRequest("breakdownBy takes creatorId");
  return { ...stretch, step, creatorId: textOf(query.creatorId), isByCreator: names.length > 0 };
}
