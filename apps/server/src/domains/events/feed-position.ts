import { NotFound } from "../api/index.ts";
import type { Subject } from "../subject.ts";
import { parseEventId } from "./event-id.ts";
import type { EventDeps, EventRange, LoggedEvent } from "./event-log.ts";
import type { EventTail, FeedItem } from "./event-tail.ts";
import type { FeedRequest } from "./feed-request.ts";

/** Events may be written this long after their time; only then is everything until `to` present. */
const SETTLED_MS = 2_000;

export interface FeedPage {
  readonly events: readonly LoggedEvent[];
  /** Events before the first of these, which the reader has not received, are no longer kept. */
  readonly isGap: boolean;
}

/** The position of one reader in a log, from its request until it catches up with the tail. */
export class FeedPosition {
  /** When everything until `to` is in the log; null for a reader that stays. */
  readonly endsAt: number | null;
  readonly #deps: Pick<EventDeps, "db" | "events">;
  readonly #tail: EventTail;
  readonly #subject: Subject;
  readonly #range: EventRange;
  /** Whether a missing sequence number means a lost event, because the reader asked for every event after the first. */
  readonly #isWhole: boolean;
  #seq: number;
  #at: number;
  #isGap: boolean;

  private constructor(
    deps: Pick<EventDeps, "db" | "events">,
    { subject, tail, request }: FeedStart,
    start: { seq: number; at: number; isGap: boolean },
  ) {
    const { from, to, lastEventId } = request;
    this.#deps = deps;
    this.#tail = tail;
    this.#subject = subject;
    this.#range = {
      ...(lastEventId === null && from !== null ? { after: from } : {}),
      ...(to === null ? {} : { until: to }),
    };
    this.#isWhole = lastEventId !== null && to === null && !start.isGap;
    this.#seq = start.seq;
    this.#at = start.at;
    this.#isGap = start.isGap;
    this.endsAt = to === null ? null : to + SETTLED_MS;
  }

  /** Throws `NotFound` if the reader's last event must exist and does not. */
  static async find(deps: Pick<EventDeps, "db" | "events">, start: FeedStart): Promise<FeedPosition> {
    const { subject, tail, request } = start;
    const { from, lastEventId, mustFindLast } = request;
    if (lastEventId === null)
      return new FeedPosition(deps, start, { seq: from === null ? tail.seq : 0, at: from ?? 0, isGap: false });
    const last = parseEventId(subject, lastEventId);
    if (last && (await deps.events.has(deps.db, subject, last)))
      return new FeedPosition(deps, start, { ...last, isGap: false });
    if (mustFindLast) throw new NotFound("event not found");
    return new FeedPosition(deps, start, { seq: 0, at: 0, isGap: true });
  }

  get hasCaughtUp(): boolean {
    return !this.#isGap && this.#seq >= this.#tail.seq;
  }

  /** The events of the tail that the reader asked for. A reader from another node may be ahead of this tail. */
  chosen(items: readonly FeedItem[]): readonly FeedItem[] {
    const { after = 0, until = Number.MAX_SAFE_INTEGER } = this.#range;
    const isChosen = ({ seq, event: { timestamp } }: FeedItem) =>
      seq > this.#seq && timestamp > after && timestamp <= until;
    return items.every(isChosen) ? items : items.filter(isChosen);
  }

  /** The next events on the way to the tail, at most `limit`. */
  async next(limit: number): Promise<FeedPage> {
    const { db, events } = this.#deps;
    const end = this.#tail.seq;
    const page = await events.since(db, this.#subject, this.#seq, limit, { ...this.#range, lastAt: this.#at });
    const last = page.at(-1);
    const isGap = this.#isGap || (this.#isWhole && (last?.seq ?? end) > this.#seq + page.length);
    this.#isGap = false;
    this.#seq = last?.seq ?? this.#seq;
    this.#at = Math.max(this.#at, last?.event.timestamp ?? 0);
    // The reader did not ask for the events up to the former tail, or they are no longer kept.
    if (page.length < limit) this.#seq = Math.max(this.#seq, end);
    return { events: page, isGap };
  }
}

export interface FeedStart {
  readonly subject: Subject;
  readonly tail: EventTail;
  readonly request: FeedRequest;
}
