import type { AcceptedSocket, Libsrt } from "./libsrt.ts";
import { FIRST_CALLER, type FromSrtChild, type SrtLinkReport } from "./srt-protocol.ts";

/** An SRT message has at most 1,456 bytes of payload. */
const MESSAGE_ROOM = 2_048;
/** What has come of one caller is passed on in pieces of at most this. */
const PIECE_BYTES = 64 * 1024;
/**
 * Packets of callers whose key is being checked. They wait in libsrt, up to 12 MB each, and a caller needs no key to fill that; what waits for a valid
 * key is a fraction of a second.
 */
const MAX_HELD_PACKETS = 16_384;
/** Without any packet, libsrt ends a connection after 5 s. One that ends sooner after media was closed by the caller. */
const CLOSED_BY_CALLER_MS = 3_500;

export interface SrtListenerSettings {
  readonly srt: Libsrt;
  /** The listening socket. */
  readonly socket: number;
  /** It has a passphrase. */
  readonly isEncrypted: boolean;
  readonly send: (message: FromSrtChild) => void;
  /** There is a caller to look at, after a time without. */
  readonly wake: () => void;
  /** Resolves when the server has taken enough of what was sent to it. */
  readonly room: () => Promise<unknown>;
  readonly now: () => number;
}

interface Caller {
  readonly id: number;
  readonly socket: number;
  readonly latencyMs: number;
  /** *new*: nothing has come yet. *held*: its first message was passed on. *open*: everything is. */
  state: "new" | "held" | "open";
  /** When media last came, as far as the reports tell. */
  mediaAt: number;
  /** Set once the caller has closed: until then, what it sent becomes due (`latencyMs`). */
  endsAt: number | null;
}

/** The callers of one port, in the child. */
export class SrtListener {
  readonly #settings: SrtListenerSettings;
  readonly #callers = new Map<number, Caller>();
  readonly #piece = Buffer.alloc(PIECE_BYTES);
  #ids = FIRST_CALLER;

  constructor(settings: SrtListenerSettings) {
    this.#settings = settings;
  }

  get callers(): number {
    return this.#callers.size;
  }

  /** Resolves when the listening socket is closed. */
  async accept(): Promise<void> {
    const { srt, socket: listener, isEncrypted, room } = this.#settings;
    for (;;) {
      await room();
      const found = await srt.nextCaller(listener, isEncrypted);
      if (!found) return;
      this.#welcome(found);
    }
  }

  /** Call every few milliseconds while there are callers. */
  look(): void {
    let heldPackets = 0;
    let fullest: Caller | null = null;
    let mostPackets = 0;
    for (const caller of this.#callers.values()) {
      if (caller.state !== "held") {
        this.#receive(caller);
        continue;
      }
      const packets = this.#settings.srt.receivedPackets(caller.socket);
      heldPackets += packets;
      if (packets <= mostPackets) continue;
      mostPackets = packets;
      fullest = caller;
    }
    if (fullest && heldPackets > MAX_HELD_PACKETS)
      this.#end(fullest, "sent too much before its key was checked", false);
  }

  /** Pass on all that comes of this caller. */
  receive(id: number): void {
    const caller = this.#callers.get(id);
    if (caller) caller.state = "open";
  }

  close(id: number): void {
    const caller = this.#callers.get(id);
    if (!caller) return;
    this.#callers.delete(id);
    this.#settings.srt.close(caller.socket);
  }

  /** Of all callers, since the last call. */
  links(): SrtLinkReport[] {
    const { srt, now } = this.#settings;
    return [...this.#callers.values()].flatMap((caller) => {
      const figures = srt.figuresOf(caller.socket);
      if (!figures) return [];
      if (figures.received > 0) caller.mediaAt = now();
      return [{ id: caller.id, latencyMs: caller.latencyMs, ...figures }];
    });
  }

  #welcome({ socket, ...peer }: AcceptedSocket): void {
    const { srt, send, wake, now } = this.#settings;
    const wasIdle = this.callers === 0;
    const id = this.#ids++;
    const latencyMs = srt.latencyMs(socket);
    this.#callers.set(id, { id, socket, latencyMs, state: "new", mediaAt: now(), endsAt: null });
    send({ type: "caller", id, ...peer });
    if (wasIdle) wake();
  }

  #receive(caller: Caller): void {
    const { srt, send } = this.#settings;
    const { id, socket } = caller;
    let filled = 0;
    for (;;) {
      const bytes = srt.receive(socket, this.#piece.subarray(filled, filled + MESSAGE_ROOM));
      if (bytes > 0) filled += bytes;
      const isFirst = bytes > 0 && caller.state === "new";
      if (isFirst) caller.state = "held";
      const isOver = bytes <= 0 || isFirst;
      if (filled > 0 && (isOver || filled + MESSAGE_ROOM > PIECE_BYTES)) {
        send({ type: "media", id, bytes: this.#piece.subarray(0, filled) });
        filled = 0;
      }
      if (bytes < 0) this.#lose(caller);
      if (isOver) return;
    }
  }

  #lose(caller: Caller): void {
    const now = this.#settings.now();
    if (now - caller.mediaAt >= CLOSED_BY_CALLER_MS)
      return this.#end(caller, "the publisher stopped responding", false);
    caller.endsAt ??= now + caller.latencyMs;
    if (now > caller.endsAt) this.#end(caller, "the publisher closed the connection", true);
  }

  #end({ id }: Caller, reason: string, isWanted: boolean): void {
    this.close(id);
    this.#settings.send({ type: "gone", id, reason, isWanted });
  }
}
