import { fileURLToPath } from "node:url";
import type { Clock, Timer } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { killed, type PipedChild, startPipedChild, viewMessages } from "../../platform/piped-child.ts";
import {
  FIRST_CALLER,
  type FromSrtChild,
  frameToSrtChild,
  readFromSrtChild,
  type SrtCall,
  type SrtLinkReport,
  type SrtPlace,
  type ToSrtChild,
} from "./srt-protocol.ts";

const CHILD = fileURLToPath(new URL("./srt-child.ts", import.meta.url));
/** Delays before the listener's child is started again; the last also before all further ones. */
const RESTART_MS = [0, 250, 1000, 5000];
const STEADY_MS = 30_000;
/** How to get the library, for a sentence. */
export const INSTALL_LIBSRT = "Install it (Debian and Ubuntu: apt-get install libsrt1.5-gnutls)";

/** Why a connection failed. A sentence for people, and whether a retry may succeed. */
export interface SrtFailure {
  readonly reason: string;
  readonly isTemporary: boolean;
}

const NO_LIBRARY: SrtFailure = {
  reason: `This server cannot use SRT, because it has no libsrt. ${INSTALL_LIBSRT}, then restart the stream.`,
  isTemporary: false,
};
const DIED: SrtFailure = {
  reason: "The SRT process ended; a new one is starting.",
  isTemporary: true,
};

/** Events of a connection. `failed` is the last one. */
export interface SrtLinkHandler {
  connected(): void;
  /** What a source has sent; valid until it returns. */
  media?(bytes: Uint8Array): void;
  /** The total number of bytes that the target has acknowledged. */
  taken(bytes: number): void;
  failed(failure: SrtFailure): void;
}

export interface SrtLink {
  send(bytes: Uint8Array): void;
  /** Queued data is still sent unless `isAtOnce`. `failed` is not called. */
  close(isAtOnce: boolean): void;
}

/** A connection that a caller opened. */
export interface SrtGuest {
  readonly address: string;
  /** As sent: any text of up to 512 bytes. */
  readonly streamId: string;
  /** Both sides have the same passphrase, or none; otherwise nothing that it sends can be read. */
  readonly isKeyShared: boolean;
  /** Receive more than its first message. */
  receive(): void;
  /** `gone` is not called. */
  close(): void;
}

/** Events of a guest. `gone` is the last one. */
export interface SrtGuestHandler {
  /** `bytes` is valid until it returns. */
  media(bytes: Uint8Array): void;
  link(report: SrtLinkReport): void;
  /** `isWanted`: the caller closed it. */
  gone(reason: string, isWanted: boolean): void;
}

export interface SrtHost {
  guest(guest: SrtGuest): SrtGuestHandler;
}

export type SrtListening =
  | { readonly at: "starting" | "listening" | "no-library" }
  | { readonly at: "failed"; readonly reason: string };

export interface SrtProcessSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** The child's program; for tests. */
  readonly child?: string;
}

/**
 * The process with all SRT connections. It starts with the first connection or for the listener. If it dies, its connections end, and the next
 * connection starts a new process; for the listener one is started anyway.
 */
export class SrtProcess {
  readonly #settings: SrtProcessSettings;
  readonly #links = new Map<number, SrtLinkHandler>();
  readonly #guests = new Map<number, SrtGuestHandler>();
  #listener: { readonly place: SrtPlace; readonly host: SrtHost } | null = null;
  #listening: SrtListening = { at: "starting" };
  readonly #settled = Promise.withResolvers<void>();
  #child: PipedChild | null = null;
  #startedAt = 0;
  #deaths = 0;
  #restart: Timer | null = null;
  #ids = 0;
  #isClosed = false;

  constructor(settings: SrtProcessSettings) {
    this.#settings = settings;
  }

  /** Pid of the child; 0 without one. */
  get pid(): number {
    return this.#child?.process.pid ?? 0;
  }

  /** Of the port for callers. */
  get listening(): SrtListening {
    return this.#listening;
  }

  get guestCount(): number {
    return this.#guests.size;
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

  /** Accepts callers, in a new child too, until `stopListening`. Call once. Resolves when it is known whether the port is open. */
  async listen(place: SrtPlace, host: SrtHost): Promise<SrtListening> {
    this.#listener = { place, host };
    if (this.#child) this.#send({ type: "listen", place });
    else this.#start();
    await this.#settled.promise;
    return this.#listening;
  }

  /** New callers are closed; present ones go on. */
  stopListening(): void {
    this.#listener = null;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#restart?.cancel();
    this.#settled.resolve();
    if (this.#child) await killed(this.#child);
  }

  #start(): void {
    this.#restart?.cancel();
    if (this.#isClosed) return;
    const { clock, log, child: program = CHILD } = this.#settings;
    const child = startPipedChild({ program });
    const take = (body: Buffer) => this.#take(child, readFromSrtChild(body));
    viewMessages(child, { take, clock, log, name: "the SRT process" });
    child.ended.then(() => this.#ended(child, DIED));
    this.#child = child;
    this.#startedAt = clock.monotonic();
    if (this.#listener) this.#send({ type: "listen", place: this.#listener.place });
  }

  #send(message: ToSrtChild): void {
    this.#child?.input.write(frameToSrtChild(message));
  }

  #take(child: PipedChild, message: FromSrtChild): void {
    switch (message.type) {
      case "no-library":
        return this.#ended(child, NO_LIBRARY);
      case "taken":
        for (const [id, bytes] of message.taken) this.#links.get(id)?.taken(bytes);
        return;
      case "connected":
        return this.#links.get(message.id)?.connected();
      case "failed": {
        const handler = this.#links.get(message.id);
        this.#links.delete(message.id);
        return handler?.failed({ reason: message.reason, isTemporary: true });
      }
      case "listening":
        return this.#listens({ at: "listening" });
      case "not-listening":
        return this.#listens({ at: "failed", reason: message.reason });
      case "caller":
        return this.#welcome(child, message);
      case "media":
        if (message.id < FIRST_CALLER) return this.#links.get(message.id)?.media?.(message.bytes);
        return this.#guests.get(message.id)?.media(message.bytes);
      case "links":
        for (const link of message.links) this.#guests.get(link.id)?.link(link);
        return;
      case "gone": {
        const guest = this.#guests.get(message.id);
        this.#guests.delete(message.id);
        return guest?.gone(message.reason, message.isWanted);
      }
    }
  }

  #listens(listening: SrtListening): void {
    this.#listening = listening;
    this.#settled.resolve();
  }

  #welcome(child: PipedChild, { id, address, streamId, isKeyShared }: FromSrtChild & { type: "caller" }): void {
    let isOpen = true;
    // Another child gives the same numbers.
    const send = (message: ToSrtChild) => isOpen && this.#child === child && this.#send(message);
    const close = () => {
      send({ type: "close", id, isAtOnce: true });
      if (this.#child === child) this.#guests.delete(id);
      isOpen = false;
    };
    const receive = () => send({ type: "receive", id });
    const handler = this.#listener?.host.guest({ address, streamId, isKeyShared, receive, close });
    if (!handler) close();
    else if (isOpen) this.#guests.set(id, handler);
  }

  #ended(child: PipedChild, failure: SrtFailure): void {
    if (this.#child !== child) return;
    this.#child = null;
    const links = [...this.#links.values()];
    const guests = [...this.#guests.values()];
    this.#links.clear();
    this.#guests.clear();
    if (failure === NO_LIBRARY) this.#listens({ at: "no-library" });
    else if (!this.#isClosed) this.#died(links.length, guests.length);
    for (const handler of links) handler.failed(failure);
    for (const handler of guests) handler.gone("the SRT process died", false);
  }

  #died(links: number, publishers: number): void {
    const { clock, log } = this.#settings;
    log.warn({ links, publishers }, "the SRT process died; its targets, sources and publishers connect again");
    if (!this.#listener) return;
    const hasLived = clock.monotonic() - this.#startedAt >= STEADY_MS;
    this.#deaths = hasLived ? 0 : this.#deaths + 1;
    const ms = RESTART_MS[Math.min(this.#deaths, RESTART_MS.length - 1)] ?? 0;
    this.#restart = clock.after(ms, () => this.#start());
  }
}
