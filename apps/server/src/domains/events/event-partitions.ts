import { sql } from "kysely";
import type { Db, Trx } from "../schema.ts";

export type EventKind = "lifecycle" | "telemetry";

const DAY_MS = 86_400_000;
const KINDS: readonly EventKind[] = ["lifecycle", "telemetry"];
const KEPT_DAYS: Record<EventKind, number> = { lifecycle: 400, telemetry: 7 };
/** Any number; the same in every process, so that two never make one partition at once. */
const PARTITION_LOCK = 7_301_001;

const dayOf = (at: number): number => Math.floor(at / DAY_MS);
const partitionName = (kind: EventKind, day: number): string =>
  `event_${kind}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** Daily partitions of the two event tables: made when an event of the day comes, dropped whole when their time is over. */
export class EventPartitions {
  /** Days known to exist; bounded by the days a process runs. */
  readonly #known = new Set<number>();

  /** Call inside the transaction that inserts, once; costs nothing for a day seen before. */
  async ensure(db: Db | Trx, times: Iterable<number>): Promise<void> {
    const unknown = [...new Set([...times].map(dayOf))].filter((day) => !this.#known.has(day));
    if (unknown.length === 0) return;
    // Those that are there were made by whoever looks after the log; these are made here, and may be rolled back.
    for (const day of await this.#existing(db, unknown)) this.#known.add(day);
    const missing = unknown.filter((day) => !this.#known.has(day));
    if (missing.length === 0) return;
    await sql`select pg_advisory_xact_lock(${PARTITION_LOCK})`.execute(db);
    for (const day of missing) {
      for (const kind of KINDS) {
        await sql`create table if not exists ${sql.table(partitionName(kind, day))} partition of ${sql.table(`event_${kind}`)}
          for values from (${sql.lit(day * DAY_MS)}) to (${sql.lit((day + 1) * DAY_MS)})`.execute(db);
      }
    }
  }

  /**
   * Drop the partitions past their time and make today's and tomorrow's. As many of the newest as are kept, with today's and tomorrow's,
   * stay whatever the time is: a clock that jumps ahead would drop them all, and so loses the few that the wrong days push out.
   */
  async maintain(db: Db, now: number): Promise<void> {
    await this.#dropOld(db, now);
    await db.transaction().execute((trx) => this.ensure(trx, [now, now + DAY_MS]));
  }

  async #dropOld(db: Db, now: number): Promise<void> {
    for (const kind of KINDS) {
      const oldest = partitionName(kind, dayOf(now) - KEPT_DAYS[kind]);
      const { rows } = await sql<{ name: string }>`
        select name from (
          select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = ${`event_${kind}`}::regclass order by c.relname desc offset ${KEPT_DAYS[kind] + 2}
        ) as old where name < ${oldest}`.execute(db);
      if (rows.length > 0) this.#known.clear();
      for (const { name } of rows) await sql`drop table if exists ${sql.table(name)}`.execute(db);
    }
  }

  async #existing(db: Db | Trx, days: readonly number[]): Promise<number[]> {
    const names = days.map((day) => KINDS.map((kind) => partitionName(kind, day)));
    const { rows } = await sql<{ day: number }>`
      select f.day::int as day from unnest(${days}::int[], ${names.map(([name]) => name)}::text[],
        ${names.map(([, name]) => name)}::text[]) as f(day, a, b)
      where to_regclass(f.a) is not null and to_regclass(f.b) is not null`.execute(db);
    return rows.map(({ day }) => day);
  }
}
