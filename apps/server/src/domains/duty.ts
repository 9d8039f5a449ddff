import type { RawBuilder } from "kysely";

/** Periodic work without a trigger. */
export interface Duty<Deps> {
  /** Completes "housekeeping could not". */
  readonly what: string;
  /** Whether there is anything to do, as a cheap boolean expression in SQL. */
  isDue(now: number, deps: Deps): RawBuilder<unknown>;
  run(deps: Deps): Promise<void>;
}
