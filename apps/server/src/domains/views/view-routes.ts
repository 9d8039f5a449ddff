import { routes, type TotalViews, type Viewership, type ViewsNow } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import type { Audiences } from "../../platform/audience/index.ts";
import { ApiRoutes, BadRequest, NotFound, parseStretch, type RawQuery } from "../api/index.ts";
import { DecisionCache } from "../decision-cache.ts";
import type { Deps } from "../deps.ts";
import { isPlaybackId } from "../ids.ts";
import type { Db, Owner } from "../schema.ts";
import { playbackLogRoutes } from "./playback-log.ts";
import type { ViewCounter } from "./view-counter.ts";
import { parseDimensions, parseViewsOf } from "./view-query.ts";
import { isWatchable, MAX_ROWS, readTotalViews, readViewership, readViewsNow, type ViewsOf } from "./view-store.ts";

const MAX_SHOWN = 100;
/** Anyone may request totals, which are sums over all hours of a playback id. */
const TOTALS_MS = 10_000;
const MAX_TOTALS = 10_000;

export interface ViewRouteDeps extends Deps {
  readonly audiences: Audiences;
  readonly viewCounter: ViewCounter;
  /** Rate limit for public requests. */
  readonly viewers: Db;
}

/** Current and past viewers: figures of the project, public totals, and the reports of players. */
export function viewRoutes(app: FastifyInstance, deps: ViewRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const totals = new DecisionCache<TotalViews>(deps.clock, TOTALS_MS, MAX_TOTALS);

  for (const route of [routes.getViewsNow, routes.getViewsNowOutsideApi])
    api.on(route, async ({ principal, query }): Promise<ViewsNow[]> => {
      for (const name of ["from", "to", "timeStep"])
        if (query[name] !== undefined) throw new BadRequest(`${name} is for views/query: these are the viewers of now`);
      const of = parseViewsOf(query);
      const by = parseDimensions(query);
      return whole(await readViewsNow(deps.db, principal, { of, by, now: deps.clock.now() }));
    });

  for (const route of [routes.getViews, routes.getViewsOutsideApi])
    api.on(route, async ({ principal, query }) => viewership(principal, query, parseViewsOf(query)));

  for (const route of [routes.getViewsOfCreator, routes.getViewsOfCreatorOutsideApi])
    api.on(route, async ({ principal, query }) => {
      const { playbackId: _ignored, ...of } = parseViewsOf(query);
      if (of.subjects.length !== 1)
        throw new BadRequest("must provide exactly 1 of assetId or streamId for creator query");
      return viewership(principal, query, of);
    });

  for (const route of [routes.getTotalViews, routes.getTotalViewsOutsideApi])
    api.on(route, async ({ id }, reply): Promise<TotalViews> => {
      reply.header("cache-control", "public, max-age=60, s-maxage=300");
      if (isPlaybackId(id)) return totals.get(id, () => readTotalViews(deps.viewers, id));
      return { playbackId: id.slice(0, MAX_SHOWN), viewCount: 0, playtimeMins: 0, legacyViewCount: 0 };
    });

  playbackLogRoutes(app, deps);

  async function viewership(owner: Owner, query: RawQuery, of: ViewsOf): Promise<Viewership[]> {
    const by = parseDimensions(query);
    const stretch = parseStretch(query, deps.clock.now());
    if (of.subjects.length > 0 && !(await isWatchable(deps.db, owner, of))) throw new NotFound();
    return whole(await readViewership(deps.db, owner, { of, by, ...stretch }));
  }
}

function whole<Row>(rows: Row[]): Row[] {
  if (rows.length <= MAX_ROWS) return rows;
  throw new BadRequest(`more than ${MAX_ROWS} rows: ask for a shorter time, longer steps or one playbackId`);
}
