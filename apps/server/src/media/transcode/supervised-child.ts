import type { Clock, Timer } from "../../platform/clock.ts";
import { ChildWork } from "./child-work.ts";
import type { TranscodeChild, TranscodeChildren } from "./transcode-child-process.ts";
import { type FromChild, frameOf, type ToChild } from "./transcode-protocol.ts";

/** In a row, without a success between them. */
const MAX_FAILURES = 5;

export interface SupervisedChildSettings {
  readonly clock: Clock;
  readonly children: Pick<TranscodeChildren, "take">;
  /** Waits before a child takes the place of one that failed; the last also before all further ones. */
  readonly restartMs: readonly number[];
  /**
   * How long a child must have lived for its success to count: if one packet is a success, whoever sends a good packet and a deadly one in turn
   * would have a process started each time, for ever.
   */
  readonly steadyMs: number;
  /** Everything but its progress. */
  readonly message: (message: FromChild) => void;
  /** The child died, or made no progress and was killed. `isLast` after too many failures in a row: no other follows. */
  readonly died: (reason: string, isLast: boolean) => void;
  /** The wait is over: `start`, and tell the new child what to do. */
  readonly restart: () => void;
}

/** The child that transcodes one live track. One that dies, or has work and makes no progress, is replaced; what was in it is lost. */
export class SupervisedChild {
  readonly #settings: SupervisedChildSettings;
  #child: TranscodeChild | null = null;
  /** Also when it has ended. */
  #newest: TranscodeChild | null = null;
  #restart: Timer | null = null;
  #failures = 0;
  #startedAt = 0;
  #work = new ChildWork(0);

  constructor(settings: SupervisedChildSettings) {
    this.#settings = settings;
  }

  /** The pid of the newest child; 0 before it has one. */
  get pid(): number {
    return this.#newest?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child !== null;
  }

  /** In a row, without a success between them. */
  get failures(): number {
    return this.#failures;
  }

  /** Bytes that wait to go into its pipe; 0 without a child. */
  get backlogBytes(): number {
    return this.#child?.backlogBytes ?? 0;
  }

  /** The age of the oldest packet that the child was given and has not worked off. */
  get lagMs(): number {
    return this.#work.lagMs(this.#settings.clock.monotonic());
  }

  /** As `lagMs`, without the time that the child took to load. */
  get overdueMs(): number {
    return this.#work.overdueMs(this.#settings.clock.monotonic());
  }

  /** What the newest child has done. */
  get work(): ChildWork {
    return this.#work;
  }

  /** Ends the child, and starts another. */
  start(): void {
    this.drop();
    const child = this.#settings.children.take({
      message: (message) => this.#child === child && this.#receive(message),
      exited: (reason) => this.#child === child && this.#died(reason),
    });
    this.#child = child;
    this.#startedAt = this.#settings.clock.monotonic();
    this.#work = new ChildWork(this.#failures);
    this.#newest = child;
  }

  /** Ends the child; no other follows. */
  drop(): void {
    this.#restart?.cancel();
    const child = this.#child;
    this.#child = null;
    child?.kill();
  }

  /** The failures before count no more, if the child has lived for long enough. */
  succeeded(): void {
    const { clock, steadyMs } = this.#settings;
    if (clock.monotonic() - this.#startedAt >= steadyMs) this.#failures = 0;
  }

  send(message: ToChild): void {
    this.#child?.send(frameOf(message));
  }

  /** Media arrives, whether the child gets it or not. False if there is no child to give it to. */
  mediaArrived(): boolean {
    const child = this.#child;
    const stuck = child && this.#work.mediaArrived(this.#settings.clock.monotonic(), child.isLoaded);
    if (stuck) {
      this.drop();
      this.#died(stuck);
    }
    return this.#child !== null;
  }

  /** As `send`, of media. */
  give(message: ToChild): void {
    this.#work.given(this.#settings.clock.monotonic());
    this.send(message);
  }

  #receive(message: FromChild): void {
    if (message.type === "progress") this.#work.reported(message.packets, message.busyMs);
    else this.#settings.message(message);
  }

  #died(reason: string): void {
    const { clock, restartMs, died, restart } = this.#settings;
    this.#child = null;
    const isLast = ++this.#failures >= MAX_FAILURES;
    const ms = restartMs[Math.min(this.#failures, restartMs.length) - 1] ?? 0;
    if (!isLast) this.#restart = clock.after(ms, restart);
    died(reason, isLast);
  }
}
