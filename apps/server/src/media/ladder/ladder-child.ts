import type { Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { DroppedSamples } from "../feed/dropped-samples.ts";
import type { SessionFeed } from "../feed/session-feed.ts";
import type { VideoTrack } from "../packet.ts";
import type { Cut, Sample } from "../timeline/timeline-sink.ts";
import {
  SupervisedChild,
  type SupervisedChildSettings,
  type ToChild,
  type TranscodeStart,
} from "../transcode/index.ts";
import type { Rung } from "./ladder-plan.ts";

const FLUSH_MS = 1500;
/** Beyond this the child is too slow, and nothing is sent before the first IDR after it has caught up. */
const MAX_BACKLOG_BYTES = 6 * 1024 * 1024;
const RESTART_MS = [0, 250, 1000];
/** A machine that stays too slow is not told of at every group of pictures. */
const TELL_BEHIND_MS = 60_000;

/** A node's encoding settings. */
export type EncodingSettings = Pick<TranscodeStart, "preset" | "encoder">;

export interface LadderChildSettings extends Omit<SupervisedChildSettings, "restartMs"> {
  readonly log: Log;
  readonly encoding: EncodingSettings;
  /** In the log, of the pictures that it was too slow for. */
  readonly name: string;
  /** The same for the time that the oldest picture waits for it, once it is loaded. */
  readonly maxLagMs: number;
  /** Nothing more comes from the child: it died, or was ended. */
  readonly ended: () => void;
}

/**
 * The child process that encodes a ladder: what it is sent, and what must wait until it has given everything. A child that is too slow gets no pictures
 * until it has caught up.
 */
export class LadderChild {
  readonly #settings: LadderChildSettings;
  readonly process: SupervisedChild;
  readonly #dropped: DroppedSamples;
  /** The child was too slow: nothing is sent before the next IDR. */
  #skipsToIdr = false;
  #toldBehindAt = Number.NEGATIVE_INFINITY;
  #flushId = 0;
  /** A running flush, and the actions that wait for it. */
  #flushing: { readonly id: number; readonly after: (() => void)[]; readonly deadline: Timer } | null = null;

  constructor(settings: LadderChildSettings) {
    this.#settings = settings;
    this.#dropped = new DroppedSamples(settings.log, settings.name);
    this.process = new SupervisedChild({
      ...settings,
      restartMs: RESTART_MS,
      message: (message) => (message.type === "flushed" ? this.#flushed(message.id) : settings.message(message)),
      died: (reason, isLast) => this.#died(reason, isLast),
    });
  }

  /** Ends the child, and starts another for this video. What it makes up to `publishedTicks` is there already; null: it begins with the next IDR. */
  start({ codec, width, height, config }: VideoTrack, rungs: readonly Rung[], publishedTicks: number | null): void {
    this.process.start();
    this.#skipsToIdr = publishedTicks === null;
    const video = { codec, width, height, config: Buffer.from(config).toString("base64") };
    this.process.send({ type: "start", start: { ...this.#settings.encoding, video, rungs } });
    if (publishedTicks) this.process.send({ type: "skip-until", ticks: publishedTicks });
  }

  /** Bring a new child to where the one before was, from the feed of the pictures. */
  replay(source: Pick<SessionFeed, "replay">): void {
    source.replay({
      cut: (cut) => this.cut(cut),
      sample: (sample) => this.process.give(messageOfSample(sample)),
    });
  }

  /** From the next cut on, these rungs are made. */
  make(rungs: readonly Rung[]): void {
    this.process.send({ type: "rungs", rungs });
  }

  cut({ msn, ticks }: Cut): void {
    this.process.send({ type: "cut", msn, ticks });
  }

  sample(sample: Sample): void {
    const child = this.process;
    if (!child.mediaArrived()) return;
    if (child.backlogBytes > MAX_BACKLOG_BYTES || child.overdueMs > this.#settings.maxLagMs) this.#skip();
    else if (sample.isIndependent) this.#skipsToIdr = false;
    if (this.#skipsToIdr) this.#dropped.add(1);
    else child.give(messageOfSample(sample));
  }

  /** Run now, or after the running flush. */
  inOrder(action: () => void): void {
    if (this.#flushing) this.#flushing.after.push(action);
    else action();
  }

  /** The child gives everything that it was sent; then `done` is called. */
  flush(done: () => void): void {
    if (!this.process.isRunning) return this.inOrder(done);
    this.inOrder(() => {
      const id = ++this.#flushId;
      const deadline = this.#settings.clock.after(FLUSH_MS, () => this.#flushed(id));
      this.#flushing = { id, after: [done], deadline };
      this.process.send({ type: "flush", id });
    });
  }

  /** Ends the child; no other follows. */
  drop(): void {
    this.process.drop();
    this.#dropped.report();
    this.#ended();
  }

  #died(reason: string, isLast: boolean): void {
    const { log, died } = this.#settings;
    log.warn(
      { reason, child: this.process.pid },
      "a transcoder crashed or got stuck; a new one continues from its position",
    );
    this.#ended();
    died(reason, isLast);
  }

  #ended(): void {
    this.#settings.ended();
    this.#flushed(this.#flushId);
  }

  #skip(): void {
    this.#skipsToIdr = true;
    const { clock, log } = this.#settings;
    const now = clock.monotonic();
    if (now - this.#toldBehindAt < TELL_BEHIND_MS) return;
    this.#toldBehindAt = now;
    log.warn(
      { lagMs: this.process.lagMs, child: this.process.pid },
      "the transcoder of a stream is behind: it gets no pictures until it has caught up",
    );
  }

  #flushed(id: number): void {
    const flushing = this.#flushing;
    if (flushing?.id !== id) return;
    flushing.deadline.cancel();
    this.#flushing = null;
    for (const action of flushing.after) this.inOrder(action);
  }
}

function messageOfSample({ isIndependent, decodeTime: dts, time: pts, data }: Sample): ToChild {
  return { type: "packet", isIndependent, dts, pts, data: data.bytes };
}
