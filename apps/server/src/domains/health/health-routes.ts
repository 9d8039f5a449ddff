import { routes, type StreamHealth } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes, NotFound } from "../api/index.ts";
import { type EventDeps, ownsLog } from "../events/index.ts";
import { type Now, verdictOf } from "../health-verdict.ts";
import type { Db } from "../schema.ts";
import { streamSubject } from "../subject.ts";
import { HealthViews } from "./health-views.ts";

/** Health of streams, at both URLs of the data API. A stream without events has a record with nothing known. */
export function healthRoutes(app: FastifyInstance, deps: EventDeps): void {
  const api = new ApiRoutes(app, deps);
  const views = new HealthViews(deps);
  for (const route of [routes.getStreamHealth, routes.getStreamHealthOutsideApi]) {
    api.on(route, async ({ principal, id }): Promise<StreamHealth> => {
      if (!(await ownsLog(deps.db, principal, streamSubject(id)))) throw new NotFound("stream not found");
      return withVerdict(await views.of(id), await readNow(deps.db, id));
    });
  }
}

/**
 * Conditions come from events; an issue says more than they do, and a disconnected source says nothing. While a stream is active it is therefore
 * healthy if both agree, unhealthy if either disagrees, and unknown before the first reading.
 */
function withVerdict(health: StreamHealth, now: Now | undefined): StreamHealth {
  if (!now || now.state === "idle") return health;
  const { frequency, ...healthy } = health.healthy;
  const said = [healthy.status, verdictOf(now)];
  const status = said.includes(false) ? false : said.includes(null) ? null : true;
  return { ...health, healthy: { ...healthy, status, ...(status !== null && frequency && { frequency }) } };
}

async function readNow(db: Db, id: string): Promise<Now | undefined> {
  return db
    .selectFrom("stream")
    .select(["state", "issues", "transcoding", "ingest_rate", "profiles", "target_states"])
    .where("id", "=", id)
    .executeTakeFirst();
}
