import type { EventPage } from "@weir/contract";
import type { Clock } from "../../platform/clock.ts";
import type { EventTail } from "./event-tail.ts";
import type { FeedPosition } from "./feed-position.ts";

export interface FeedPollSettings {
  readonly clock: Clock;
  readonly tail: EventTail;
  readonly position: FeedPosition;
  readonly maxWaitMs: number;
  /** Receives a function that ends the wait when the client disconnects. */
  readonly onGone: (stop: () => void) => void;
}

const PAGE = 500;

/** The next events of a log as JSON: the available ones, or else the first that arrives within the wait, or else none. */
export async function pollFeed(settings: FeedPollSettings): Promise<EventPage> {
  const { clock, position } = settings;
  let isAnyGap = false;
  while (!position.hasCaughtUp) {
    const { events, isGap } = await position.next(PAGE);
    isAnyGap ||= isGap;
    if (events.length > 0) return { events: events.map(({ event }) => event), ...(isAnyGap ? { gap: true } : {}) };
  }
  const untilEnd = position.endsAt === null ? settings.maxWaitMs : position.endsAt - clock.now();
  const waitMs = Math.min(settings.maxWaitMs, untilEnd);
  const events = waitMs > 0 && !isAnyGap ? await nextEvents(settings, waitMs) : [];
  return { events, ...(isAnyGap ? { gap: true } : {}) };
}

function nextEvents({ clock, tail, position, onGone }: FeedPollSettings, ms: number): Promise<EventPage["events"]> {
  return new Promise((resolve) => {
    const finish = (events: EventPage["events"]) => {
      timer.cancel();
      tail.readers.delete(reader);
      resolve(events);
    };
    const timer = clock.after(ms, () => finish([]));
    const reader = {
      take(items) {
        const chosen = position.chosen(items);
        if (chosen.length > 0) finish(chosen.map(({ event }) => event));
      },
      ping() {},
      close: () => finish([]),
    } satisfies Parameters<typeof tail.readers.add>[0];
    tail.readers.add(reader);
    onGone(() => finish([]));
  });
}
