import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { AudioSource, AudioTarget } from "./audio-protocol.ts";
import { ChildWork } from "./child-work.ts";
import type { TranscodeChild, TranscodeChildren } from "./transcode-child-process.ts";
import { type FromChild, frameToChild } from "./transcode-protocol.ts";

/** About 20 s of audio: a child that is so far behind gets nothing more until it has caught up. */
const MAX_BACKLOG_BYTES = 512 * 1024;
const RESTART_MS = [100, 1000, 5000];
/** In a row, without a packet between them. */
const MAX_FAILURES = 5;

export interface AudioConversionSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly children: TranscodeChildren;
  readonly target: AudioTarget;
  /** `config` is the AudioSpecificConfig of AAC; empty for Opus. */
  readonly onReady: (config: Uint8Array) => void;
  /** In 90 kHz ticks of the source's clock. */
  readonly onPacket: (pts: number, data: Uint8Array) => void;
}

/** Has one audio track converted by a child. A child that dies or hangs is replaced; what was in it is lost. */
export class AudioConversion {
  readonly #settings: AudioConversionSettings;
  #source: AudioSource | null = null;
  #child: TranscodeChild | null = null;
  #restart: Timer | null = null;
  #failures = 0;
  #work = new ChildWork(0);
  #isClosed = false;

  constructor(settings: AudioConversionSettings) {
    this.#settings = settings;
  }

  /** Convert this source from here on. */
  start(source: AudioSource): void {
    this.#source = source;
    this.#failures = 0;
    this.#startChild();
  }

  push(pts: number, data: Uint8Array): void {
    const child = this.#child;
    if (!child) return;
    const now = this.#settings.clock.monotonic();
    const stuck = this.#work.mediaArrived(now, child.isLoaded);
    if (stuck) return this.#replaceStuck(stuck);
    if (child.backlogBytes >= MAX_BACKLOG_BYTES) return;
    this.#work.given(now);
    child.send(frameToChild({ type: "audio", pts, data }));
  }

  close(): void {
    this.#isClosed = true;
    this.#dropChild();
  }

  #startChild(): void {
    this.#dropChild();
    const { children, target } = this.#settings;
    const source = this.#source;
    if (!source || this.#isClosed) return;
    const child = children.take({
      message: (message) => this.#child === child && this.#receive(message),
      exited: (reason) => this.#child === child && this.#died(reason),
    });
    this.#child = child;
    this.#work = new ChildWork(this.#failures);
    child.send(frameToChild({ type: "start-audio", start: { source, target } }));
  }

  #dropChild(): void {
    this.#restart?.cancel();
    const child = this.#child;
    this.#child = null;
    child?.kill();
  }

  #replaceStuck(reason: string): void {
    this.#dropChild();
    this.#died(reason);
  }

  #receive(message: FromChild): void {
    if (message.type === "progress") this.#work.reported(message.packets, message.busyMs);
    else if (message.type === "audio-ready") this.#settings.onReady(Buffer.from(message.config, "base64"));
    else if (message.type === "audio") {
      this.#failures = 0;
      this.#settings.onPacket(message.pts, message.data);
    } else if (message.type === "error" && message.isFatal)
      this.#settings.log.warn({ reason: message.message }, "audio could not be converted");
  }

  #died(reason: string): void {
    const { clock, log } = this.#settings;
    this.#child = null;
    this.#failures++;
    if (this.#failures >= MAX_FAILURES) return log.warn({ reason }, "audio is no longer converted: its child failed");
    const ms = RESTART_MS[Math.min(this.#failures, RESTART_MS.length) - 1] ?? 0;
    this.#restart = clock.after(ms, () => this.#startChild());
  }
}
