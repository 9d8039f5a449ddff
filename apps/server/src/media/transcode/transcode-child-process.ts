import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Confinement, UNCONFINED } from "../../platform/confinement/confinement.ts";
import type { Log } from "../../platform/log.ts";
import { type FromChild, fromChildReader } from "./transcode-protocol.ts";

const CHILD = fileURLToPath(new URL("./transcode-child.ts", import.meta.url));

/** The events of a transcoding child. Nothing comes after `exited`. */
export interface TranscodeChildHandler {
  message(message: FromChild): void;
  exited(reason: string): void;
}

/** One child process, told what to do by frames of the transcode protocol. */
export interface TranscodeChild {
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
 * spare. The spare is made when the first child is taken, so that a server that never transcodes holds none.
 */
export class TranscodePool implements TranscodeChildren {
  readonly #log: Log;
  readonly #confinement: Confinement;
  readonly #children = new Set<PipedChild>();
  #spare: PipedChild | null = null;
  #isClosed = false;

  constructor(log: Log, confinement: Confinement = UNCONFINED) {
    this.#log = log;
    this.#confinement = confinement;
  }

  take(handler: TranscodeChildHandler): TranscodeChild {
    const spare = this.#spare?.isAlive ? this.#spare : this.#start();
    this.#spare = this.#start();
    spare.employ(handler);
    return spare;
  }

  start(handler: TranscodeChildHandler): TranscodeChild {
    const child = this.#start();
    child.employ(handler);
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

  #start(): PipedChild {
    if (this.#isClosed) throw new Error("the transcode pool is closed");
    const child = new PipedChild(this.#log, this.#confinement, () => this.#children.delete(child));
    this.#children.add(child);
    return child;
  }
}

class PipedChild implements TranscodeChild {
  readonly #process: ChildProcess;
  readonly #input: Writable;
  readonly #log: Log;
  #handler: TranscodeChildHandler | null = null;
  #isAlive = true;
  #isLoaded = false;

  constructor(log: Log, { prefix }: Confinement, onGone: () => void) {
    this.#log = log;
    const [program = process.execPath, ...args] = [...prefix, process.execPath, CHILD];
    this.#process = spawn(program, args, {
      // A folder of ours may be hidden from it.
      cwd: "/",
      // Nothing of this process's environment, which holds secrets. Glibc's arenas cost a media process tens of megabytes.
      env: { PATH: process.env.PATH, MALLOC_ARENA_MAX: "2" },
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
    });
    const [, , , input, output] = this.#process.stdio as [null, null, null, Duplex, Readable];
    this.#input = input;
    input.on("error", () => {}); // "close" follows and reports the end
    const read = fromChildReader();
    output.on("data", (bytes: Uint8Array) => this.#receive(read, bytes));
    output.on("error", () => {});
    // Not "once": a failed kill is reported as another error.
    this.#process.on("error", (error) => this.#gone(`The transcoder does not start: ${error.message}.`, onGone));
    // Not "exit": its last messages may still be in the pipe.
    this.#process.once("close", (code, signal) =>
      this.#gone(`The transcoder ended with ${signal ?? `code ${code}`}.`, onGone),
    );
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get backlogBytes(): number {
    return this.#input.writableLength;
  }

  employ(handler: TranscodeChildHandler): void {
    this.#handler = handler;
  }

  send(frame: Uint8Array): void {
    if (this.#isAlive) this.#input.write(frame);
  }

  kill(): void {
    this.#handler = null;
    this.#process.kill("SIGKILL");
  }

  #receive(read: (bytes: Uint8Array) => FromChild[], bytes: Uint8Array): void {
    try {
      for (const message of read(bytes)) {
        if (message.type === "loaded") this.#isLoaded = true;
        else this.#handler?.message(message);
      }
    } catch (error) {
      this.#log.error({ err: error, pid: this.pid }, "unreadable message from a transcoder; killing it");
      this.#process.kill("SIGKILL");
    }
  }

  #gone(reason: string, onGone: () => void): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    onGone();
    const handler = this.#handler;
    this.#handler = null;
    handler?.exited(reason);
  }
}
