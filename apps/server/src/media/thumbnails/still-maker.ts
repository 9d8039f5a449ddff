import type { Clock, Timer } from "../../platform/clock.ts";
import { TooManyWaiting } from "../../platform/limits/turns.ts";
import type { Log } from "../../platform/log.ts";
import {
  type FromChild,
  frameToChild,
  type SheetJob,
  type StillFormat,
  type StillJob,
  type TranscodeChild,
  type TranscodeChildren,
} from "../transcode/index.ts";

/** Images are made one after the other, in about 10 ms each. */
const MAX_WAITING = 64;
/**
 * A child that takes this long for one image is replaced, and the next one gets twice the time: on a busy machine starting a child costs more than
 * the image, and only one that is left to finish ever has one. An image in time restores the first limit, for a decoder that hangs.
 */
const JOB_MS = { first: 10_000, most: 60_000 } as const;
/** A child takes about 80 MB, so it ends after this time without work. */
const IDLE_MS = 60_000;

/** An independently decodable picture. */
export interface Keyframe {
  readonly codec: StillJob["codec"];
  /** The body of `avcC`, `hvcC` or `av1C`. */
  readonly config: Uint8Array;
  /** One access unit: NAL units with 4-byte lengths, or an AV1 temporal unit. */
  readonly data: Uint8Array;
}

export interface ImageShape {
  readonly maxWidth: number;
  readonly maxHeight: number;
  readonly format: StillFormat;
}

export type StillShape = Pick<StillJob, "maxWidth" | "maxHeight" | "format">;
export type SheetShape = Omit<SheetJob, "id">;

interface Waiting {
  readonly frame: (id: number) => Uint8Array;
  readonly done: (image: Uint8Array | null) => void;
}

export interface StillMakerSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly children: TranscodeChildren;
}

/**
 * Makes images from keyframes in a child process, one at a time: images use at most one core, and a crashing decoder affects nothing else. The child
 * starts with the first image and ends after a minute without work.
 */
export class StillMaker {
  readonly #settings: StillMakerSettings;
  readonly #waiting: Waiting[] = [];
  #child: TranscodeChild | null = null;
  #job: { readonly id: number; readonly waiting: Waiting; readonly deadline: Timer } | null = null;
  #idle: Timer | null = null;
  #jobs = 0;
  #patienceMs: number = JOB_MS.first;
  #isClosed = false;

  constructor(settings: StillMakerSettings) {
    this.#settings = settings;
  }

  /** Null if the picture cannot be decoded. Rejects with `TooManyWaiting`. */
  make({ codec, config, data }: Keyframe, shape: StillShape): Promise<Uint8Array | null> {
    const job = { codec, config: Buffer.from(config).toString("base64"), ...shape };
    return this.#ask((id) => frameToChild({ type: "still", job: { id, ...job }, data }));
  }

  /** Makes one JPEG from previously made tiles, concatenated in `tiles`. Null on failure. Rejects with `TooManyWaiting`. */
  sheet(shape: SheetShape, tiles: Uint8Array): Promise<Uint8Array | null> {
    return this.#ask((id) => frameToChild({ type: "sheet", job: { id, ...shape }, data: tiles }));
  }

  close(): void {
    this.#isClosed = true;
    for (const { done } of this.#waiting.splice(0)) done(null);
    this.#drop("the server is closing");
  }

  #ask(frame: Waiting["frame"]): Promise<Uint8Array | null> {
    if (this.#isClosed) return Promise.resolve(null);
    if (this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new TooManyWaiting("too many pictures are being made"));
    return new Promise((done) => {
      this.#waiting.push({ frame, done });
      this.#next();
    });
  }

  #next(): void {
    if (this.#job) return;
    const waiting = this.#waiting.shift();
    this.#idle?.cancel();
    const { clock } = this.#settings;
    if (!waiting) {
      this.#idle = clock.after(IDLE_MS, () => this.#end());
      return;
    }
    const id = ++this.#jobs;
    const deadline = clock.after(this.#patienceMs, () => this.#giveUp());
    this.#job = { id, waiting, deadline };
    this.#child ??= this.#start();
    this.#child.send(waiting.frame(id));
  }

  #start(): TranscodeChild {
    const child: TranscodeChild = this.#settings.children.start({
      message: (message) => this.#child === child && this.#receive(message),
      exited: (reason) => this.#child === child && this.#drop(reason),
    });
    return child;
  }

  #receive(message: FromChild): void {
    if (message.type !== "still" || message.id !== this.#job?.id) return;
    this.#patienceMs = JOB_MS.first;
    this.#finish(message.data.byteLength > 0 ? message.data : null);
  }

  #giveUp(): void {
    const reason = `it took more than ${this.#patienceMs / 1000} s`;
    this.#patienceMs = Math.min(2 * this.#patienceMs, JOB_MS.most);
    this.#drop(reason);
  }

  /** Ends the child. The current image fails, and the next one gets a new child. */
  #drop(reason: string): void {
    if (this.#job) this.#settings.log.warn({ reason }, "could not make a thumbnail");
    this.#end();
    this.#finish(null);
  }

  #finish(image: Uint8Array | null): void {
    const job = this.#job;
    this.#job = null;
    job?.deadline.cancel();
    job?.waiting.done(image);
    if (!this.#isClosed) this.#next();
  }

  #end(): void {
    const child = this.#child;
    this.#child = null;
    child?.kill();
  }
}
