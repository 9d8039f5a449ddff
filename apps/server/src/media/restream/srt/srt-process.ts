import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Clock, Timer } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { killed, startPipedChild } from "../../../platform/piped-child.ts";
import type { TargetFailure } from "../target-connection.ts";
import {
  type FromSrtChild,
  frameToSrtChild,
  fromSrtChildReader,
  type SrtCall,
  type ToSrtChild,
} from "./srt-protocol.ts";

const CHILD = fileURLToPath(new URL("./srt-child.ts", import.meta.url));
/** A child says something several times a second. One that says nothing for this long hangs. */
const SILENCE_MS = 10_000;
const LOOK_MS = 1_000;

export const NO_LIBRARY: TargetFailure = {
  reason:
    "This server cannot send over SRT, because it has no libsrt. Install it (Debian and Ubuntu: apt-get install libsrt1.5-gnutls), then restart the stream.",
  mayHeal: false,
};
const DIED: TargetFailure = { reason: "The process that sends over SRT ended; a new one is started.", mayHeal: true };

/** The events of a connection. Nothing comes after `failed`. */
export interface SrtLinkHandler {
  connected(): void;
  /** Of all that was sent, the target has so many bytes. */
  taken(bytes: number): void;
  failed(failure: TargetFailure): void;
}

export interface SrtLink {
  send(bytes: Uint8Array): void;
  /** `failed` is not called. What is queued still goes out unless it is to end at once. */
  close(isAtOnce: boolean): void;
}

export interface SrtProcessSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** The program; for tests. */
  readonly child?: string;
}

/** The process that sends over SRT, started when the first target wants it. It may die at any moment: then its connections fail, and the next one starts another. */
export class SrtProcess {
  readonly #settings: SrtProcessSettings;
  readonly #links = new Map<number, SrtLinkHandler>();
  #child: ChildProcess | null = null;
  #input: Writable | null = null;
  #ids = 0;
  #heardAt = 0;
  #watch: Timer | null = null;
  #isClosed = false;

  constructor(settings: SrtProcessSettings) {
    this.#settings = settings;
  }

  /** Of the child; 0 while there is none. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  connect(call: SrtCall, handler: SrtLinkHandler): SrtLink {
    const id = ++this.#ids;
    this.#links.set(id, handler);
    if (!this.#child) this.#start();
    this.#send({ type: "call", id, call });
    return {
      send: (bytes) => this.#links.has(id) && this.#send({ type: "media", id, bytes }),
      close: (isAtOnce) => this.#links.delete(id) && this.#send({ type: "close", id, isAtOnce }),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#child) await killed(this.#child);
  }

  #start(): void {
    if (this.#isClosed) return;
    const { clock, log, child: program = CHILD } = this.#settings;
    const { child, input } = startPipedChild<FromSrtChild>({
      program,
      read: fromSrtChildReader(),
      take: (message) => this.#take(child, message),
      unreadable: (err) => log.error({ err, pid: child.pid }, "unreadable message from the SRT process; killing it"),
      ended: () => this.#ended(child, DIED),
    });
    this.#child = child;
    this.#input = input;
    this.#heardAt = clock.monotonic();
    this.#watch = clock.every(LOOK_MS, () => {
      if (clock.monotonic() - this.#heardAt > SILENCE_MS) child.kill("SIGKILL");
    });
  }

  #send(message: ToSrtChild): void {
    this.#input?.write(frameToSrtChild(message));
  }

  #take(child: ChildProcess, message: FromSrtChild): void {
    this.#heardAt = this.#settings.clock.monotonic();
    if (message.type === "no-library") return this.#ended(child, NO_LIBRARY);
    if (message.type === "taken") {
      for (const [id, bytes] of message.taken) this.#links.get(id)?.taken(bytes);
      return;
    }
    const handler = this.#links.get(message.id);
    if (message.type === "connected") return handler?.connected();
    this.#links.delete(message.id);
    handler?.failed({ reason: message.reason, mayHeal: true });
  }

  #ended(child: ChildProcess, failure: TargetFailure): void {
    if (this.#child !== child) return;
    this.#child = null;
    this.#input = null;
    this.#watch?.cancel();
    const handlers = [...this.#links.values()];
    this.#links.clear();
    const { log } = this.#settings;
    if (!this.#isClosed && failure === DIED) log.warn({ targets: handlers.length }, "the SRT process died");
    for (const handler of handlers) handler.failed(failure);
  }
}
