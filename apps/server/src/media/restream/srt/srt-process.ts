import { fileURLToPath } from "node:url";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { killed, killSilent, type PipedChild, startPipedChild, takeMessages } from "../../../platform/piped-child.ts";
import type { TargetFailure } from "../target-connection.ts";
import {
  type FromSrtChild,
  frameToSrtChild,
  fromSrtChildReader,
  type SrtCall,
  type ToSrtChild,
} from "./srt-protocol.ts";

const CHILD = fileURLToPath(new URL("./srt-child.ts", import.meta.url));

export const NO_LIBRARY: TargetFailure = {
  reason:
    "This server cannot send over SRT, because it has no libsrt. Install it (Debian and Ubuntu: apt-get install libsrt1.5-gnutls), then restart the stream.",
  isTemporary: false,
};
const DIED: TargetFailure = {
  reason: "The process that sends over SRT ended; a new one is starting.",
  isTemporary: true,
};

/** Events of a connection. `failed` is the last one. */
export interface SrtLinkHandler {
  connected(): void;
  /** The total number of bytes that the target has acknowledged. */
  taken(bytes: number): void;
  failed(failure: TargetFailure): void;
}

export interface SrtLink {
  send(bytes: Uint8Array): void;
  /** Queued data is still sent unless `isAtOnce`. `failed` is not called. */
  close(isAtOnce: boolean): void;
}

export interface SrtProcessSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** The child's program; for tests. */
  readonly child?: string;
}

/** The process that sends over SRT. It starts with the first connection. If it dies, its connections fail, and the next one starts a new process. */
export class SrtProcess {
  readonly #settings: SrtProcessSettings;
  readonly #links = new Map<number, SrtLinkHandler>();
  #child: PipedChild | null = null;
  #ids = 0;
  #isClosed = false;

  constructor(settings: SrtProcessSettings) {
    this.#settings = settings;
  }

  /** Pid of the child; 0 without one. */
  get pid(): number {
    return this.#child?.process.pid ?? 0;
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
    const child = startPipedChild({ program });
    const take = (message: FromSrtChild) => this.#take(child, message);
    takeMessages(child, { read: fromSrtChildReader(), take, log, name: "the SRT process" });
    killSilent(child, clock);
    child.ended.then(() => this.#ended(child, DIED));
    this.#child = child;
  }

  #send(message: ToSrtChild): void {
    this.#child?.input.write(frameToSrtChild(message));
  }

  #take(child: PipedChild, message: FromSrtChild): void {
    if (message.type === "no-library") return this.#ended(child, NO_LIBRARY);
    if (message.type === "taken") {
      for (const [id, bytes] of message.taken) this.#links.get(id)?.taken(bytes);
      return;
    }
    const handler = this.#links.get(message.id);
    if (message.type === "connected") return handler?.connected();
    this.#links.delete(message.id);
    handler?.failed({ reason: message.reason, isTemporary: true });
  }

  #ended(child: PipedChild, failure: TargetFailure): void {
    if (this.#child !== child) return;
    this.#child = null;
    const handlers = [...this.#links.values()];
    this.#links.clear();
    const { log } = this.#settings;
    if (!this.#isClosed && failure === DIED) log.warn({ targets: handlers.length }, "the SRT process died");
    for (const handler of handlers) handler.failed(failure);
  }
}
