import { NoResultError } from "kysely";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BackOff } from "../../platform/retry.ts";
import type { EventSink, MediaFact } from "../../ports/index.ts";

export interface FactQueueOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Writes a batch completely or not at all, and once: one that got no answer comes again under its number, as it was. */
  readonly write: (facts: readonly MediaFact[], dropped: ReadonlyMap<string, number>, number: number) => Promise<void>;
  readonly capacity?: number;
}

const CAPACITY = 20_000;
const BATCH = 500;
/** Changes of a publisher's state are written at once. Readers of events wait for telemetry; nobody waits for the rest. */
const URGENT_MS = 10;
const TELEMETRY_MS = 100;
/** A transaction costs the same few statements for all streams together. */
const GATHER_MS = 1_000;

const isUrgent = (fact: MediaFact): boolean => fact.type === "source-ended" || fact.type === "source-back";
const isTelemetry = ({ type }: MediaFact): boolean => type === "source-metrics" || type === "segment-transcoded";
const delayOf = (fact: MediaFact): number =>
  isUrgent(fact) ? URGENT_MS : isTelemetry(fact) ? TELEMETRY_MS : GATHER_MS;

/** A batch on its way. */
interface Attempt {
  readonly number: number;
  readonly facts: readonly MediaFact[];
  readonly dropped: ReadonlyMap<string, number>;
}

/**
 * Sits between the media floor, which never waits, and the database, which may be slow or unavailable. Facts wait in one bounded queue in order
 * of arrival; one batch is written at a time. While the database does not answer, the queue retries the batch with growing waits. To find a fact
 * that the database refuses for good, it writes one fact at a time; it drops that fact and logs an error. When the queue is full, it drops
 * telemetry first (a gap event will report it), then the oldest facts that change no publisher's state.
 */
export class FactQueue implements Pick<EventSink, "report" | "settle" | "lost"> {
  readonly #options: Required<FactQueueOptions>;
  readonly #backOff = new BackOff(100, 5_000);
  #waiting: MediaFact[] = [];
  #dropped = new Map<string, number>();
  /** Being written, or without an answer: then it may have been written, and is tried again unchanged. Its facts still wait. */
  #attempt: Attempt | null = null;
  #attempts = 0;
  #timer: { readonly timer: Timer; readonly due: number } | null = null;
  #writing: Promise<void> | null = null;
  /** Number of facts to write one at a time, to find the refused one. */
  #singly = 0;
  #notBefore = 0;
  #closed = false;
  #droppedInAll = 0;
  #lost = 0;

  constructor(options: FactQueueOptions) {
    this.#options = { capacity: CAPACITY, ...options };
  }

  report(fact: MediaFact): void {
    if (this.#closed) return;
    this.#waiting.push(fact);
    if (this.#waiting.length > this.#options.capacity) this.#makeRoom();
    this.#schedule(delayOf(fact));
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Facts dropped for lack of room since the start. */
  get dropped(): number {
    return this.#droppedInAll;
  }

  get lost(): number {
    return this.#lost;
  }

  /** Write the waiting facts now. Resolves when they are written, or after one failed attempt. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#waiting.length === 0 && !this.#hasOnlyDropped) return;
    await this.#start();
  }

  async settle(): Promise<boolean> {
    const isOfNow = this.#waitingNow();
    await this.flush();
    // What is reported after the end is not written.
    return !this.#closed && !isOfNow();
  }

  /** Returns whether any of the facts that wait now still does. They leave in order, whichever of them a full queue drops. */
  #waitingNow(): () => boolean {
    const facts = new Set(this.#waiting);
    return () => this.#waiting[0] !== undefined && facts.has(this.#waiting[0]);
  }

  /** Flush for the last time and accept no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    this.#timer?.timer.cancel();
    if (this.#waiting.length > 0) {
      this.#options.log.error(
        { facts: this.#waiting.length },
        "media facts were lost: the database did not accept them",
      );
    }
  }

  #schedule(ms: number): void {
    const now = this.#options.clock.monotonic();
    const due = Math.max(now + ms, this.#notBefore);
    if (this.#closed || this.#writing || (this.#timer && this.#timer.due <= due)) return;
    this.#timer?.timer.cancel();
    this.#timer = { due, timer: this.#options.clock.after(due - now, () => void this.#start()) };
  }

  #start(): Promise<void> {
    this.#timer?.timer.cancel();
    this.#timer = null;
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = null;
      if (this.#waiting.length > 0) this.#schedule(Math.min(...this.#waiting.map(delayOf)));
    });
    return this.#writing;
  }

  /** Writes what waits now. What comes meanwhile is for the next time: to a slow database more always comes, and who settles would wait for ever. */
  async #drain(): Promise<void> {
    const isOfNow = this.#waitingNow();
    let onlyDropped = this.#hasOnlyDropped;
    while (isOfNow() || onlyDropped) {
      onlyDropped = false;
      this.#attempt ??= this.#nextAttempt();
      const { facts, dropped, number } = this.#attempt;
      try {
        await this.#options.write(facts, dropped, number);
      } catch (error) {
        if (!isRefusal(error)) return this.#tryLater(error);
        this.#attempt = null;
        for (const [streamId, count] of dropped) this.#countDropped(streamId, count);
        this.#findRefused(facts, error);
        continue;
      }
      this.#attempt = null;
      this.#backOff.reset();
      this.#notBefore = 0;
      this.#singly = Math.max(0, this.#singly - 1);
      this.#remove(new Set(facts));
    }
  }

  /** No fact waits, but what was dropped is to be told. */
  get #hasOnlyDropped(): boolean {
    return this.#waiting.length === 0 && (this.#dropped.size > 0 || this.#attempt !== null);
  }

  #nextAttempt(): Attempt {
    const facts = this.#waiting.slice(0, this.#singly > 0 ? 1 : BATCH);
    const dropped = this.#dropped;
    this.#dropped = new Map();
    return { number: ++this.#attempts, facts, dropped };
  }

  #tryLater(error: unknown): void {
    const ms = this.#backOff.next();
    this.#notBefore = this.#options.clock.monotonic() + ms;
    this.#options.log.warn(
      { err: error, waiting: this.#waiting.length, ms },
      "the database did not accept media facts; retrying",
    );
  }

  #findRefused(batch: readonly MediaFact[], error: unknown): void {
    const [fact] = batch;
    if (batch.length > 1 || !fact) {
      this.#singly = batch.length;
      if (!fact) this.#dropped.clear();
      return;
    }
    this.#options.log.error(
      { err: error, type: fact.type, streamId: fact.streamId },
      "the database refused a fact; it is dropped",
    );
    this.#remove(new Set(batch));
  }

  #remove(written: ReadonlySet<MediaFact>): void {
    this.#waiting = this.#waiting.filter((fact) => !written.has(fact));
  }

  #makeRoom(): void {
    // What may have been written is not dropped.
    const attempted = new Set(this.#attempt?.facts);
    const others = this.#waiting.filter((fact) => !attempted.has(fact));
    const telemetry = others.filter(isTelemetry);
    const victims = telemetry.length > 0 ? telemetry : others.filter((fact) => !isUrgent(fact)).slice(0, BATCH);
    if (victims.length === 0) return;
    for (const { streamId } of victims) this.#countDropped(streamId, 1);
    this.#droppedInAll += victims.length;
    if (telemetry.length === 0) this.#lost += victims.length;
    this.#remove(new Set(victims));
    this.#options.log.warn(
      { dropped: victims.length, telemetry: telemetry.length > 0 },
      "the fact queue is full; dropped some facts",
    );
  }

  #countDropped(streamId: string, count: number): void {
    this.#dropped.set(streamId, (this.#dropped.get(streamId) ?? 0) + count);
  }
}

/** Data exception, constraint violation, invalid statement, or a bug: a retry cannot help. */
function isRefusal(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "illegal-transition") return true;
  if (error instanceof TypeError || error instanceof RangeError || error instanceof NoResultError) return true;
  return /^(22|23|42)[0-9A-Z]{3}$/.test(code);
}
