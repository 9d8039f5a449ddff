import type { StreamHealth } from "@weir/contract";
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { EventDeps } from "../events/index.ts";
import type { Db } from "../schema.ts";
import { streamSubject } from "../subject.ts";
import { HealthReducer } from "./health-reducer.ts";

interface View {
  readonly reducer: HealthReducer;
  /** The last event that was applied. */
  seq: number;
  at: number;
  /** Readers of one stream's log take turns; otherwise an event would be applied twice. */
  reading: Promise<void>;
}

/** About 60 kB each for a stream that is live all day. */
const MAX_VIEWS = 256;
const PAGE = 500;
/** Longest window of a condition. */
const WINDOW_MS = 3_600_000;

/** Health of streams, as this process has read it from their logs. An evicted record is read again with the same result. */
export class HealthViews {
  readonly #deps: Pick<EventDeps, "db" | "events">;
  readonly #views = new LRUCache<string, View>({ max: MAX_VIEWS });

  constructor(deps: Pick<EventDeps, "db" | "events">) {
    this.#deps = deps;
  }

  /** As of the log's newest event. The caller has checked that the stream belongs to the caller's project. */
  async of(streamId: string): Promise<StreamHealth> {
    const view = this.#viewOf(streamId);
    const reading = view.reading.then(() => this.#catchUp(streamId, view));
    view.reading = reading.catch(() => {});
    await reading;
    return view.reducer.record();
  }

  #viewOf(streamId: string): View {
    const view = this.#views.get(streamId) ?? {
      reducer: new HealthReducer(streamId),
      seq: 0,
      at: 0,
      reading: Promise.resolve(),
    };
    this.#views.set(streamId, view);
    return view;
  }

  async #catchUp(streamId: string, view: View): Promise<void> {
    const { db, events } = this.#deps;
    if (view.seq === 0) view.seq = await beginningOf(db, streamId);
    for (;;) {
      const page = await events.since(db, streamSubject(streamId), view.seq, PAGE, { lastAt: view.at });
      for (const { seq, event } of page) {
        view.reducer.apply(event);
        view.seq = seq;
        view.at = Math.max(view.at, event.timestamp);
      }
      if (page.length < PAGE) return;
    }
  }
}

/**
 * The position in the log before which nothing matters: becoming active resets everything except the history of being active, of which an hour
 * is shown.
 */
async function beginningOf(db: Db, streamId: string): Promise<number> {
  const { rows } = await sql<{ seq: string }>`
    select seq from event_lifecycle
    where subject_id = ${streamId} and type = 'stream_state' and (data->'state'->>'active')::boolean
      and at <= ${WINDOW_MS}::bigint * -1
        + (select max(at) from event_lifecycle where subject_id = ${streamId} and type = 'stream_state')
    order by seq desc limit 1`.execute(db);
  return Math.max(0, Number(rows[0]?.seq ?? 1) - 1);
}
