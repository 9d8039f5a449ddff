import { sql } from "kysely";
import type { Db, Trx } from "../schema.ts";

export type EventKind = "lifecycle" | "telemetry";

const DAY_MS = 86_400_000;
const KINDS: readonly EventKind[] = ["lifecycle", "telemetry"];
const KEPT_DAYS: Record<EventKind, number> = { lifecycle: 400, telemetry: 7 };
/** An arbitrary number that all processes share, so that two of them never create the same partition at once. */
const PARTITION_LOCK = 7_301_001;

const dayOf = (at: number): number => Math.floor(at / DAY_MS);
const partitionName = (kind: EventKind, day: number): string =>
  `event_${kind}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;

/** Daily partitions of the two event tables: created when an event of the day arrives, dropped whole when they expire. */
export class EventPartitions {
  /** Days known to exist, bounded by the number of days that the process runs. */
  readonly #known = new Set<number>();

  /** Call it once, inside the transaction that inserts. It costs nothing for a known day. */
  async ensure(db: Db | Trx, times: Iterable<number>): Promise<void> {
    const unknown = [...new Set([...times].map(dayOf))].filter((day) => !this.#known.has(day));
    if (unknown.length === 0) return;
    // The upkeep of the log created the existing ones; these are created here, and a rollback may remove them.
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
   * Drop expired partitions and create those of today and tomorrow. The newest partitions, as many as the retention period has days, always
   * stay: a clock that jumps ahead would otherwise drop all of them. It costs only the few that the wrong days push out.
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
