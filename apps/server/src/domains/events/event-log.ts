import type { StreamEvent } from "@weir/contract";
import { sql } from "kysely";
import type { Deps } from "../deps.ts";
import type { Db, Owner, Trx } from "../schema.ts";
import type { Subject } from "../subject.ts";
import { notifyEvents } from "./event-channel.ts";
import { type EventPosition, eventIdsOf } from "./event-id.ts";
import { type EventKind, EventPartitions } from "./event-partitions.ts";

type Body<Event> = Event extends StreamEvent ? Omit<Event, "id" | "timestamp" | "streamId" | "v"> : never;

/** An event that is about to get its position in the log. */
export interface NewEvent {
  readonly subject: Subject;
  readonly owner: Owner;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly kind: EventKind;
  readonly body: Body<StreamEvent>;
}

/** An event with a position, before anybody can see it. */
export interface PlacedEvent {
  readonly event: NewEvent;
  readonly seq: number;
}

/** Receives appended events inside their transaction, as its last step. What it writes is committed only together with the events. */
export type EventOutbox = (trx: Trx, events: readonly PlacedEvent[]) => Promise<void>;

export interface LoggedEvent {
  readonly seq: number;
  readonly event: StreamEvent;
}

/** A selection of events; times in milliseconds since the Unix epoch. */
export interface EventRange {
  /** Exclusive. */
  readonly after?: number;
  /** Inclusive. */
  readonly until?: number;
  /** The time of the event after which to read. Partitions of much earlier days are skipped. */
  readonly lastAt?: number;
}

/** An event gets its position when it is written. While the database is unavailable this can be as much as this after the event. */
const LATEST_MS = 2 * 86_400_000;

interface EventRow {
  seq: string;
  at: string;
  type: string;
  v: number;
  data: Record<string, unknown>;
}

const EVENT_VERSION = 1;

/** One ordered log per subject. `append` keeps the order of commits, because it locks the sequence row until the commit. */
export class EventLog {
  readonly partitions = new EventPartitions();
  readonly #outbox: EventOutbox;

  constructor(outbox: EventOutbox = async () => {}) {
    this.#outbox = outbox;
  }

  /** Append in the given order. Call it once, last in a transaction, because it locks the sequences. */
  async append(trx: Trx, events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    await this.partitions.ensure(
      trx,
      events.map((event) => event.at),
    );
    const next = await this.#insert(trx, events);
    const subjectIds = [...next.keys()];
    const numbered = events.map((event) => {
      const seq = next.get(event.subject.id) ?? 0;
      next.set(event.subject.id, seq + 1);
      return { event, seq };
    });
    await notifyEvents(trx, subjectIds);
    await this.#outbox(trx, numbered);
  }

  /** Events of a subject after a sequence number, oldest first. The caller has checked that the subject is the asker's. */
  async since(
    db: Db,
    subject: Subject,
    afterSeq: number,
    limit: number,
    { after = 0, until = Number.MAX_SAFE_INTEGER, lastAt = 0 }: EventRange = {},
  ): Promise<LoggedEvent[]> {
    const earliest = Math.max(after, lastAt - LATEST_MS);
    const { rows } = await sql<EventRow>`
      (select seq, at, type, v, data from event_lifecycle
        where subject_id = ${subject.id} and seq > ${afterSeq} and at > ${earliest} and at <= ${until} order by seq limit ${limit})
      union all
      (select seq, at, type, v, data from event_telemetry
        where subject_id = ${subject.id} and seq > ${afterSeq} and at > ${earliest} and at <= ${until} order by seq limit ${limit})
      order by seq limit ${limit}`.execute(db);
    const idOf = eventIdsOf(subject);
    const about = { [`${subject.kind}Id`]: subject.id };
    return rows.map(({ seq: text, at, type, v, data }) => {
      const seq = Number(text);
      const timestamp = Number(at);
      const id = idOf({ at: timestamp, seq });
      return { seq, event: { type, id, timestamp, ...about, v, ...data } as StreamEvent };
    });
  }

  /** Sequence number of the newest event; 0 for a subject that never had one. Every event up to it can be read. */
  async head(db: Db, { id }: Subject): Promise<number> {
    const { rows } = await sql<{ seq: string }>`select seq from event_sequence where subject_id = ${id}`.execute(db);
    return Number(rows[0]?.seq ?? 0);
  }

  /** The same of many subjects, by their ids. */
  async heads(db: Db, ids: readonly string[]): Promise<Map<string, number>> {
    const { rows } = await sql<{ id: string; seq: string }>`
      select subject_id as id, seq from event_sequence where subject_id = any(${ids}::uuid[])`.execute(db);
    return new Map(rows.map(({ id, seq }) => [id, Number(seq)]));
  }

  /** Whether the event at this position is still kept. */
  async has(db: Db, { id }: Subject, { at, seq }: EventPosition): Promise<boolean> {
    const { rows } = await sql`
      select 1 from event_lifecycle where subject_id = ${id} and seq = ${seq} and at = ${at}
      union all select 1 from event_telemetry where subject_id = ${id} and seq = ${seq} and at = ${at}`.execute(db);
    return rows.length > 0;
  }

  /**
   * Insert events, numbered in the given order, and return the first number of each subject by its id: one statement. Locks the subjects' sequences in
   * the order of the ids.
   */
  async #insert(trx: Trx, events: readonly NewEvent[]): Promise<Map<string, number>> {
    const column = <Value>(value: (event: NewEvent) => Value) => events.map(value);
    const into = (kind: EventKind) => sql`
      insert into ${sql.table(`event_${kind}`)} (subject_kind, subject_id, seq, at, project_id, user_id, type, v, data)
      select k, s, q, a, p, u, t, ${EVENT_VERSION}::int, d::jsonb from placed where kind = ${kind}`;
    const { rows } = await sql<{ id: string; seq: string }>`
      with given as (
        select *, row_number() over (partition by s order by nth) as place from unnest(
          ${column(({ kind }) => kind)}::text[], ${column(({ subject }) => subject.kind)}::text[], ${column(({ subject }) => subject.id)}::uuid[],
          ${column((event) => event.at)}::bigint[], ${column((event) => event.owner.projectId)}::uuid[],
          ${column((event) => event.owner.userId)}::uuid[], ${column((event) => event.body.type)}::text[],
          ${column(({ body: { type: _, ...data } }) => JSON.stringify(data))}::text[]) with ordinality as f(kind, k, s, a, p, u, t, d, nth)
      ), counted as (
        select k, s, count(*) as events from given group by k, s
      ), taken as (
        insert into event_sequence as e (subject_kind, subject_id, seq) select k, s, events from counted order by s
        on conflict (subject_id) do update set seq = e.seq + excluded.seq
        returning subject_id, seq
      ), placed as (
        select given.*, taken.seq - counted.events + given.place as q
        from given join counted using (s) join taken on taken.subject_id = given.s
      ), lifecycle as (${into("lifecycle")}), telemetry as (${into("telemetry")})
      select taken.subject_id as id, taken.seq - counted.events + 1 as seq from taken join counted on counted.s = taken.subject_id`.execute(
      trx,
    );
    return new Map(rows.map(({ id, seq }) => [id, Number(seq)]));
  }
}

/** What a domain needs whose changes are events. */
export interface EventDeps extends Deps {
  readonly events: EventLog;
}
