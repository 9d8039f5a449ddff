import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import type { Db } from "./schema.ts";

/** The services that every domain receives. */
export interface Deps {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
}
