import type { StreamEvent } from "@weir/contract";

/** This many measurements of each kind are enough for a chart. */
const MAX_MEASUREMENTS = 500;
const MAX_OTHERS = 1000;

/** The events of a stretch of time, however long: the newest others, and of the measurements, which come every few seconds, one for each small interval. */
export class EventSample {
  /** The interval between two measurements that are kept. */
  readonly intervalMs: number;
  readonly #events: StreamEvent[] = [];
  readonly #latest = new Map<string, { interval: number; index: number }>();
  #others = 0;

  constructor(durationMs: number) {
    this.intervalMs = Math.max(1, Math.ceil(durationMs / MAX_MEASUREMENTS));
  }

  /** Oldest first. */
  get events(): readonly StreamEvent[] {
    const surplus = Math.max(0, this.#others - MAX_OTHERS);
    let dropped = 0;
    return this.#events.filter((event) => isMeasurement(event) || dropped++ >= surplus);
  }

  add(event: StreamEvent): void {
    if (!isMeasurement(event)) {
      this.#others++;
      this.#events.push(event);
      return;
    }
    const interval = Math.floor(event.timestamp / this.intervalMs);
    const latest = this.#latest.get(event.type);
    if (latest?.interval !== interval) {
      this.#latest.set(event.type, { interval, index: this.#events.length });
      this.#events.push(event);
    } else if (viewersOf(event) > viewersOf(this.#events[latest.index])) {
      // A peak is not left out.
      this.#events[latest.index] = event;
    }
  }
}

function isMeasurement(event: StreamEvent): boolean {
  return event.type === "media_server_metrics" || (event.type === "transcode" && event.success);
}

function viewersOf(event: StreamEvent | undefined): number {
  return event?.type === "media_server_metrics" ? (event.stats.viewerCount ?? 0) : 0;
}
