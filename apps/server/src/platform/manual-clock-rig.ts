import type { Clock, Timer } from "./clock.ts";

interface Alarm {
  at: number;
  readonly period: number | null;
  readonly action: () => void;
}

/** A clock that stands still until a test advances it. Timers run in order of their time, during `advance`. */
export class ManualClock implements Clock {
  #wall: number;
  #monotonic = 0;
  readonly #alarms = new Set<Alarm>();

  constructor(wall = 1_700_000_000_000) {
    this.#wall = wall;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, action: () => void): Timer {
    return this.#set({ at: this.#monotonic + ms, period: null, action });
  }

  every(ms: number, action: () => void): Timer {
    return this.#set({ at: this.#monotonic + ms, period: ms, action });
  }

  /** Timers that are still to come. */
  get pending(): number {
    return this.#alarms.size;
  }

  /** Advance both clocks by `ms`. */
  advance(ms: number): void {
    const target = this.#monotonic + ms;
    for (let next = this.#nextUntil(target); next; next = this.#nextUntil(target)) {
      this.#moveTo(next.at);
      if (next.period === null) this.#alarms.delete(next);
      else next.at += next.period;
      next.action();
    }
    this.#moveTo(target);
  }

  /** Set only the wall clock, as an NTP step does. */
  stepWall(ms: number): void {
    this.#wall += ms;
  }

  #set(alarm: Alarm): Timer {
    this.#alarms.add(alarm);
    return { cancel: () => this.#alarms.delete(alarm) };
  }

  #nextUntil(target: number): Alarm | undefined {
    let first: Alarm | undefined;
    for (const alarm of this.#alarms) if (alarm.at <= target && (!first || alarm.at < first.at)) first = alarm;
    return first;
  }

  #moveTo(monotonic: number): void {
    this.#wall += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}
