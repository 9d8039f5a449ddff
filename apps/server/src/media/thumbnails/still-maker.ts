import type { Clock, Timer } from "../../platform/clock.ts";
import { Turns } from "../../platform/limits/turns.ts";
import type { Log } from "../../platform/log.ts";
import {
  type FromChild,
  frameOf,
  type SheetJob,
  type StillFormat,
  type StillJob,
  type ToChild,
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
  readonly #turns = new Turns({ atATime: 1, maxWaiting: MAX_WAITING });
  #child: TranscodeChild | null = null;
  #job: { readonly id: number; readonly done: (image: Uint8Array | null) => void } | null = null;
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
    return this.#turns.run(() => this.#ask((id) => ({ type: "still", job: { id, ...job }, data })));
  }

  /** Makes one JPEG from previously made tiles, concatenated in `tiles`. Null on failure. Rejects with `TooManyWaiting`. */
  sheet(shape: SheetShape, tiles: Uint8Array): Promise<Uint8Array | null> {
    return this.#turns.run(() => this.#ask((id) => ({ type: "sheet", job: { id, ...shape }, data: tiles })));
  }

  /** Makes a keyframe for a rendition with this `avcC` from a PNG or JPEG. Null on failure. Rejects with `TooManyWaiting`. */
  slate(config: Uint8Array, image: Uint8Array): Promise<Uint8Array | null> {
    const job = { config: Buffer.from(config).toString("base64") };
    return this.#turns.run(() => this.#ask((id) => ({ type: "slate", job: { id, ...job }, data: image })));
  }

  close(): void {
    this.#isClosed = true;
    this.#drop("the server is closing");
  }

  async #ask(message: (id: number) => ToChild): Promise<Uint8Array | null> {
    if (this.#isClosed) return null;
    const { clock } = this.#settings;
    const { promise: made, resolve: done } = Promise.withResolvers<Uint8Array | null>();
    const id = ++this.#jobs;
    this.#idle?.cancel();
    this.#child ??= this.#start();
    this.#job = { id, done };
    const deadline = clock.after(this.#patienceMs, () => this.#giveUp());
    this.#child.send(frameOf(message(id)));
    const image = await made;
    deadline.cancel();
    this.#job = null;
    if (!this.#isClosed) this.#idle = clock.after(IDLE_MS, () => this.#end());
    return image;
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
    this.#job.done(message.data.byteLength > 0 ? message.data : null);
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
    this.#job?.done(null);
  }

  #end(): void {
    this.#idle?.cancel();
    this.#child?.kill();
    this.#child = null;
  }
}
