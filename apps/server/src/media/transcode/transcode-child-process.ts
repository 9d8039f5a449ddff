import { fileURLToPath } from "node:url";
import { type Confinement, UNCONFINED } from "../../platform/confinement/confinement.ts";
import type { Log } from "../../platform/log.ts";
import { messageReader } from "../../platform/pipe-frames.ts";
import { type PipedChild, startPipedChild, takeMessages } from "../../platform/piped-child.ts";
import type { Slices } from "../../platform/slices.ts";
import type { FromChild } from "./transcode-protocol.ts";

const CHILD = fileURLToPath(new URL("./transcode-child.ts", import.meta.url));

/** The events of a transcoding child. Nothing comes after `exited`. */
export interface TranscodeChildHandler {
  message(message: FromChild): void;
  exited(reason: string): void;
}

/** One child process, told what to do by frames of the transcode protocol. */
export interface TranscodeChild {
  /** 0 until its process is started, in one of the next turns of the event loop. */
  readonly pid: number;
  /** Its libraries are loaded: it works on what it is sent. */
  readonly isLoaded: boolean;
  /** Bytes that wait to go into its pipe. */
  readonly backlogBytes: number;
  send(frame: Uint8Array): void;
  /** End it at once. `exited` is not called. */
  kill(): void;
}

/** Where children come from. */
export interface TranscodeChildren {
  /** One that is loaded already. */
  take(handler: TranscodeChildHandler): TranscodeChild;
  /** A fresh one, for work that can wait until it is loaded. */
  start(handler: TranscodeChildHandler): TranscodeChild;
}

/**
 * Starts transcoding children, one ahead: loading FFmpeg takes half a second, and a live stream whose child died has no half second to
 * spare. The spare is made when the first child is taken, so that a server that never transcodes holds none. Each process is started in a turn
 * of its own: to copy the tables of a large process's memory stops the event loop for 10 ms and more.
 */
export class TranscodePool implements TranscodeChildren {
  readonly #log: Log;
  readonly #slices: Slices;
  readonly #confinement: Confinement;
  readonly #children = new Set<PooledChild>();
  #spare: PooledChild | null = null;
  #isClosed = false;

  constructor(log: Log, slices: Slices, confinement: Confinement = UNCONFINED) {
    this.#log = log;
    this.#slices = slices;
    this.#confinement = confinement;
  }

  take(handler: TranscodeChildHandler): TranscodeChild {
    const spare = this.#spare?.isAlive ? this.#spare : this.#start();
    this.#spare = this.#start();
    spare.handler = handler;
    return spare;
  }

  start(handler: TranscodeChildHandler): TranscodeChild {
    const child = this.#start();
    child.handler = handler;
    return child;
  }

  /** Children that run, the spare one among them. */
  get count(): number {
    return this.#children.size;
  }

  close(): void {
    this.#isClosed = true;
    for (const child of this.#children) child.kill();
  }

  #start(): PooledChild {
    if (this.#isClosed) throw new Error("the transcode pool is closed");
    const child = new PooledChild(() => this.#children.delete(child));
    this.#children.add(child);
    this.#slices.turn().then(() => child.start(this.#log, this.#confinement));
    return child;
  }
}

class PooledChild implements TranscodeChild {
  readonly #onGone: () => void;
  #child: PipedChild | null = null;
  /** Sent before the process was started. */
  #unsent: Uint8Array[] = [];
  /** Null while it is spare. */
  handler: TranscodeChildHandler | null = null;
  isAlive = true;
  isLoaded = false;

  constructor(onGone: () => void) {
    this.#onGone = onGone;
  }

  start(log: Log, { prefix }: Confinement): void {
    if (!this.isAlive) return;
    let child: PipedChild;
    try {
      child = startPipedChild({ program: CHILD, prefix });
    } catch (error) {
      return this.#ended(`The transcoder does not start: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#child = child;
    const take = (message: FromChild) => {
      if (message.type === "loaded") this.isLoaded = true;
      else this.handler?.message(message);
    };
    takeMessages(child, { read: messageReader<FromChild>(), take, log, name: "a transcoder" });
    child.ended.then(({ reason }) => this.#ended(`The transcoder ${reason}.`));
    for (const frame of this.#unsent.splice(0)) child.input.write(frame);
  }

  get pid(): number {
    return this.#child?.process.pid ?? 0;
  }

  get backlogBytes(): number {
    return this.#child?.input.writableLength ?? this.#unsent.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  send(frame: Uint8Array): void {
    if (!this.isAlive) return;
    if (this.#child) this.#child.input.write(frame);
    else this.#unsent.push(frame);
  }

  kill(): void {
    this.handler = null;
    if (this.#child) this.#child.process.kill("SIGKILL");
    else if (this.isAlive) this.#ended("The transcoder was not started.");
  }

  #ended(reason: string): void {
    this.isAlive = false;
    this.#onGone();
    this.handler?.exited(reason);
  }
}
