import type { Clock, Timer } from "../../platform/clock.ts";
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

/** One after the other, each some 10 ms. */
const MAX_WAITING = 64;
/** A child that is so long at one picture is stuck. */
const MAX_JOB_MS = 4_000;
/** A child costs some 80 MB. */
const IDLE_MS = 60_000;

/** A picture that can be decoded by itself. */
export interface Keyframe {
  readonly codec: StillJob["codec"];
  /** The body of `avcC`, `hvcC` or `av1C`. */
  readonly config: Uint8Array;
  /** One access unit: NAL units behind 4-byte lengths, or an AV1 temporal unit. */
  readonly data: Uint8Array;
}

export interface ImageShape {
  readonly maxWidth: number;
  readonly maxHeight: number;
  readonly format: StillFormat;
}

export type StillShape = Pick<StillJob, "maxWidth" | "maxHeight" | "format">;
export type SheetShape = Omit<SheetJob, "id">;

/** So many pictures wait already: try again in a moment. */
export class TooManyStills extends Error {}

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
 * Makes images of keyframes, one at a time, in a child of its own: no picture takes more than one core, and none that crashes its decoder
 * touches anything else. The child is started for the first picture and ends when none was wanted for a minute.
 */
export class StillMaker {
  readonly #settings: StillMakerSettings;
  readonly #waiting: Waiting[] = [];
  #child: TranscodeChild | null = null;
  #job: { readonly id: number; readonly waiting: Waiting; readonly deadline: Timer } | null = null;
  #idle: Timer | null = null;
  #jobs = 0;
  #isClosed = false;

  constructor(settings: StillMakerSettings) {
    this.#settings = settings;
  }

  /** Null where the picture cannot be decoded. Rejects with `TooManyStills`. */
  make({ codec, config, data }: Keyframe, shape: StillShape): Promise<Uint8Array | null> {
    const job = { codec, config: Buffer.from(config).toString("base64"), ...shape };
    return this.#ask((id) => frameToChild({ type: "still", job: { id, ...job }, data }));
  }

  /** One JPEG of tiles that were made before, one behind the other in `tiles`. Null where none can be made. Rejects with `TooManyStills`. */
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
      return Promise.reject(new TooManyStills("too many pictures are being made"));
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
    const deadline = clock.after(MAX_JOB_MS, () => this.#drop(`it took more than ${MAX_JOB_MS / 1000} s`));
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
    if (message.type === "still" && message.id === this.#job?.id)
      this.#finish(message.data.byteLength > 0 ? message.data : null);
  }

  /** Without its child: the picture is not made, and the next one gets a fresh child. */
  #drop(reason: string): void {
    if (this.#job) this.#settings.log.warn({ reason }, "a picture of a video could not be made");
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
