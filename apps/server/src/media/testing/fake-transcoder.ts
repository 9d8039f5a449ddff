import type { Clock } from "../../platform/clock.ts";
import { messageReader } from "../../platform/pipe-frames.ts";
import {
  type FromChild,
  type PreviewStart,
  planarBytes,
  type ToChild,
  type TranscodeChild,
  type TranscodeChildHandler,
  type TranscodeChildren,
} from "../transcode/index.ts";
import { VIDEO } from "./synthetic-source.ts";

/** How fast children work, on a clock that a test advances. */
export interface FakeMachine {
  readonly clock: Clock;
  /** Milliseconds for one picture in so many rungs. */
  costMs: (rungs: number) => number;
}

/**
 * A child that answers at once, or as fast as its machine is: each source picture comes back in every rung as one byte, cut where it was told to
 * cut, and sound comes back as it is.
 */
export class FakeChild implements TranscodeChild {
  static #nextPid = 1000;
  readonly pid = FakeChild.#nextPid++;
  isLoaded: boolean;
  backlogBytes = 0;
  isKilled = false;
  skippedUntil = 0;
  /** PTS of what came. */
  readonly taken: number[] = [];
  stills = 0;
  readonly #handler: TranscodeChildHandler;
  /** Takes what comes and makes nothing of it, but acknowledges cuts; *hung*, it does not even do that. */
  mode: "working" | "stuck" | "hung";
  readonly #read = messageReader<ToChild>();
  #rungs: readonly number[] = [];
  /** From the next cut on. */
  #nextRungs: readonly number[] | null = null;
  #preview: PreviewStart | null = null;
  #msn: number | null = null;
  #cut: { readonly msn: number; readonly ticks: number } | null = null;
  #wantsIdr = true;
  readonly #machine: FakeMachine | null;
  readonly #waiting: ToChild[] = [];
  #isBusy = false;
  #packets = 0;
  #busyMs = 0;

  constructor(handler: TranscodeChildHandler, { mode, machine, areLoaded }: FakeChildren) {
    this.#handler = handler;
    this.mode = mode;
    this.#machine = machine;
    this.isLoaded = areLoaded;
  }

  send(frame: Uint8Array): void {
    this.#waiting.push(...this.#read(frame));
    if (this.mode === "working" && this.isLoaded) this.#work();
    if (this.mode === "stuck" && this.#waiting.at(-1)?.type === "cut") this.#report();
  }

  /** It begins with what waits for it. */
  loaded(): void {
    this.isLoaded = true;
    this.#work();
  }

  kill(): void {
    this.isKilled = true;
  }

  die(reason = "killed"): void {
    this.#handler.exited(reason);
  }

  fail(message: string): void {
    this.#handler.message({ type: "error", code: "unsupported-pixel-format", message, isFatal: true });
  }

  /** One message after the other; pictures take their time. */
  #work(): void {
    while (!this.#isBusy && !this.isKilled) {
      const message = this.#waiting.shift();
      if (!message) return;
      const ms = (message.type === "packet" && this.#machine?.costMs(this.#rungs.length)) || 0;
      if (ms === 0) this.#finish(message, 0);
      else {
        this.#isBusy = true;
        this.#machine?.clock.after(ms, () => {
          this.#isBusy = false;
          if (this.isKilled) return;
          this.#finish(message, ms);
          this.#work();
        });
      }
    }
  }

  #finish(message: ToChild, ms: number): void {
    this.#take(message);
    this.#busyMs += ms;
    if (message.type !== "packet" && message.type !== "audio") return;
    this.#packets++;
    this.#report();
  }

  #report(): void {
    this.#handler.message({ type: "progress", packets: this.#packets, busyMs: this.#busyMs });
  }

  #take(message: ToChild): void {
    if (message.type === "still") this.#still(message);
    else if (message.type === "sheet") this.#sheet(message);
    else if (message.type === "start") this.#start(message.start.rungs.map(({ index }) => index));
    else if (message.type === "start-preview") this.#preview = message.start;
    else if (message.type === "rungs") this.#changeRungs(message.rungs.map(({ index }) => index));
    else if (message.type === "cut") this.#cut = message;
    else if (message.type === "skip-until") this.skippedUntil = message.ticks;
    else if (message.type === "flush" && this.#preview) this.#animate(this.#preview, message.id);
    else if (message.type === "flush") {
      this.#wantsIdr = true;
      this.#handler.message({ type: "flushed", id: message.id });
    } else if (message.type === "audio") this.#handler.message({ type: "audio", pts: message.pts, data: message.data });
    else if (message.type === "packet") this.#packet(message.pts, message.data.subarray(0, 1));
  }

  /** The format and the first byte of the keyframe's picture data; a tile is filled with that byte. */
  #still({ job: { id, format, maxWidth, maxHeight }, data: [byte] }: Extract<ToChild, { type: "still" }>): void {
    this.stills++;
    const tile = () => Buffer.alloc(planarBytes(maxWidth, maxHeight), byte);
    const data = format === "tile" ? tile() : Buffer.from(`${format} ${maxWidth} ${byte}`);
    this.#handler.message({ type: "still", id, data });
  }

  /** How large, how fast, of what stretch, and the times of the first and last packet that came for it, in seconds. */
  #animate({ maxWidth, frameRate, fromTicks, toTicks }: PreviewStart, id: number): void {
    const times = [fromTicks, toTicks, this.taken[0] ?? 0, this.taken.at(-1) ?? 0];
    const [from, to, first, last] = times.map((ticks) => Math.round(ticks / 900) / 100);
    const text = `${maxWidth} ${frameRate} ${from}-${to} of ${first}-${last}`;
    this.#handler.message({ type: "still", id, data: Buffer.from(text) });
  }

  /** The size of a tile and the first byte of each. */
  #sheet({ job: { id, tileWidth, tileHeight }, data }: Extract<ToChild, { type: "sheet" }>): void {
    const apart = planarBytes(tileWidth, tileHeight);
    const bytes = Array.from({ length: data.byteLength / apart }, (_, nth) => data[nth * apart]);
    this.#handler.message({ type: "still", id, data: Buffer.from(`${tileWidth}x${tileHeight} ${bytes.join(" ")}`) });
  }

  #start(rungs: readonly number[]): void {
    this.#rungs = rungs;
    this.#ready(rungs);
  }

  #changeRungs(rungs: readonly number[]): void {
    this.#ready(rungs.filter((index) => !this.#rungs.includes(index)));
    this.#nextRungs = rungs;
  }

  #ready(rungs: readonly number[]): void {
    const config = Buffer.from(VIDEO.config).toString("base64");
    const ready = rungs.map((index) => ({ index, config, codecString: VIDEO.codecString }));
    this.#handler.message({ type: "ready", rungs: ready });
  }

  #packet(pts: number, data: Uint8Array): void {
    this.taken.push(pts);
    const isCut = this.#cut !== null && pts >= this.#cut.ticks;
    if (this.#cut && isCut) {
      this.#msn = this.#cut.msn;
      this.#cut = null;
      if (this.#nextRungs) {
        const dropped = this.#rungs.filter((index) => !this.#nextRungs?.includes(index));
        this.#rungs = this.#nextRungs;
        this.#nextRungs = null;
        this.#handler.message({ type: "dropped", rungs: dropped });
      }
    }
    if (this.#msn === null || pts < this.skippedUntil) return;
    const isIndependent = isCut || this.#wantsIdr;
    this.#wantsIdr = false;
    for (const rung of this.#rungs) {
      const packet = { rung, isIndependent, isFirstOfSegment: isCut, msn: this.#msn, dts: pts, pts, data };
      this.#handler.message({ type: "packet", ...packet } satisfies FromChild);
    }
  }
}

export class FakeChildren implements TranscodeChildren {
  readonly taken: FakeChild[] = [];
  /** Of children from here on. */
  mode: FakeChild["mode"] = "working";
  /** False: they take what comes, and begin with it when the test says that they are loaded. */
  areLoaded = true;
  /** Null: pictures take no time. */
  machine: FakeMachine | null = null;

  take(handler: TranscodeChildHandler): FakeChild {
    const child = new FakeChild(handler, this);
    this.taken.push(child);
    return child;
  }

  start(handler: TranscodeChildHandler): FakeChild {
    return this.take(handler);
  }

  get current(): FakeChild {
    const child = this.taken.at(-1);
    if (!child) throw new Error("no child was taken");
    return child;
  }
}
