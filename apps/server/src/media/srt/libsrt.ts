import type { LibraryHandle } from "koffi";
import { addressIn, SOCKET_NAME_BYTES, socketName } from "./socket-name.ts";
import type { SrtCall, SrtPlace } from "./srt-protocol.ts";
import { type SrtThreads, srtThreads } from "./srt-threads.ts";

/** Library names on Debian and its derivatives, other Linux distributions, and macOS. */
const NAMES = [
  "libsrt-gnutls.so.1.5",
  "libsrt-openssl.so.1.5",
  "libsrt.so.1.5",
  "libsrt.so.1",
  "libsrt.dylib",
  "/opt/homebrew/lib/libsrt.dylib",
  "/usr/local/lib/libsrt.dylib",
];

/** SRT_SOCKOPT in srt.h. */
const OPTION = {
  ...{ sendWaits: 1, receiveWaits: 2, receivedPackets: 20, passphrase: 26, keyBytes: 27, sendDropDelay: 32 },
  ...{ connectMs: 36, receiveKeyState: 41, receiveLatency: 43, peerLatency: 44, streamId: 46 },
  ...{ enforcedEncryption: 53, ipv6Only: 54 },
};
/** SRT_SOCKSTATUS in srt.h. */
const STATE = { listening: 3, connecting: 4, connected: 5 };
/** SRT_EASYNCSND and SRT_EASYNCRCV: the call would block. */
const WOULD_WAIT = { send: 6_001, receive: 6_002 };
/** SRT_KM_S_UNSECURED and SRT_KM_S_SECURED in srt.h. */
const KEY_STATE = { none: 0, shared: 2 };
/** Handshaken callers that were not accepted yet; libsrt refuses further ones, which try again. */
const MAX_BACKLOG = 64;
const MAX_STREAM_ID_BYTES = 512;
/** Larger than SRT_TRACEBSTATS of any version. */
const STATISTICS_BYTES = 1_024;
/** Offsets in SRT_TRACEBSTATS, which later versions only extend: `pktRecv`, `pktRcvLoss`, `pktRcvRetrans`, `pktRcvDrop` and `msRTT`. */
const STATISTIC = { received: 144, lost: 156, retransmitted: 164, dropped: 236, roundTripMs: 328 };
const CONNECT_MS = 5_000;
const NEVER_DROP = -1;

export type SrtState = "connecting" | "connected" | "over";

/** A caller whose handshake is complete. */
export interface AcceptedSocket {
  readonly socket: number;
  readonly address: string;
  readonly streamId: string;
  /** Both sides have the same passphrase, or none. */
  readonly isKeyShared: boolean;
}

/** Since the last question, in packets. */
export interface LinkFigures {
  readonly roundTripMs: number;
  readonly received: number;
  readonly lost: number;
  readonly retransmitted: number;
  /** Came too late, or never. */
  readonly dropped: number;
}

/** Bindings for libsrt. Sockets are numbers; no call blocks this thread. */
export class Libsrt {
  readonly #call: ReturnType<typeof bind>;
  readonly #threads: SrtThreads;
  readonly #statistics = Buffer.alloc(STATISTICS_BYTES);
  readonly #name = Buffer.alloc(SOCKET_NAME_BYTES);
  readonly #streamId = Buffer.alloc(MAX_STREAM_ID_BYTES + 1);
  readonly #value = Buffer.alloc(4);
  readonly #length = Buffer.alloc(4);
  readonly #blocks = Buffer.alloc(8);
  readonly #bytes = Buffer.alloc(8);

  private constructor(call: ReturnType<typeof bind>, threads: SrtThreads) {
    this.#call = call;
    this.#threads = threads;
    call.startup();
  }

  /** Null if the library is not installed, or this machine has no way to call it. */
  static async load(importKoffi = () => import("koffi")): Promise<Libsrt | null> {
    const koffi = await importKoffi().catch(() => null);
    if (!koffi) return null;
    for (const name of NAMES) {
      try {
        return new Libsrt(bind(koffi.load(name)), srtThreads(koffi));
      } catch {
        // Try the next name.
      }
    }
    return null;
  }

  /** Starts to connect. Returns the socket, or a sentence if that failed immediately. */
  connect({ address, port, peer, streamId, passphrase, keyBytes, latencyMs }: SrtCall): number | string {
    const socket = this.#call.createSocket();
    if (socket < 0) return `no SRT socket could be created (${this.#call.lastErrorText()})`;
    const isSet = [
      this.#set(socket, OPTION.receiveWaits, 0),
      this.#set(socket, OPTION.sendWaits, 0),
      this.#set(socket, OPTION.connectMs, CONNECT_MS),
      this.#set(socket, OPTION.peerLatency, latencyMs),
      this.#set(socket, OPTION.receiveLatency, latencyMs),
      // The queue's owner drops late media up to the next keyframe. The library would drop arbitrary packets.
      this.#set(socket, OPTION.sendDropDelay, NEVER_DROP),
      streamId === "" || this.#set(socket, OPTION.streamId, streamId),
      keyBytes === 0 || this.#set(socket, OPTION.keyBytes, keyBytes),
      passphrase === null || this.#set(socket, OPTION.passphrase, passphrase),
    ].every(Boolean);
    const name = socketName(address, port);
    const connect = () => isSet && this.#call.connect(socket, name, name.length) >= 0;
    if (peer === "source" ? this.#threads.calmly(connect) : connect()) return socket;
    const why = this.#call.lastErrorText();
    this.close(socket);
    return `the connection could not be started (${why})`;
  }

  stateOf(socket: number): SrtState {
    const state = this.#call.getState(socket);
    if (state === STATE.connected) return "connected";
    return state <= STATE.connecting ? "connecting" : "over";
  }

  /** `full` means: retry later. */
  send(socket: number, message: Uint8Array): "sent" | "full" | "over" {
    if (this.#call.send(socket, message, message.byteLength) >= 0) return "sent";
    return this.#call.lastError(null) === WOULD_WAIT.send ? "full" : "over";
  }

  /** Bytes sent but not yet acknowledged by the target. */
  unconfirmed(socket: number): number {
    if (this.#call.getSendBuffer(socket, this.#blocks, this.#bytes) < 0) return 0;
    return Number(this.#bytes.readBigUInt64LE());
  }

  /** SRT_REJECT_REASON in srt.h; codes from 1000 on come from the target itself. */
  rejectionOf(socket: number): number {
    return this.#call.getRejectReason(socket);
  }

  /** Opens a port for callers. Returns the socket, or a sentence if that failed. */
  listen({ host, port, passphrase }: SrtPlace): number | string {
    const socket = this.#call.createSocket();
    if (socket < 0) return `no SRT socket could be created (${this.#call.lastErrorText()})`;
    const isSet = [
      // `nextCaller` waits.
      this.#set(socket, OPTION.receiveWaits, 1),
      // A caller with a wrong passphrase is accepted, so that somebody can be told.
      this.#set(socket, OPTION.enforcedEncryption, 0),
      !host.includes(":") || this.#set(socket, OPTION.ipv6Only, 0),
      passphrase === null || this.#set(socket, OPTION.passphrase, passphrase),
    ].every(Boolean);
    const name = socketName(host, port);
    const isBound = isSet && this.#threads.calmly(() => this.#call.bind(socket, name, name.length)) >= 0;
    if (isBound && this.#call.listen(socket, MAX_BACKLOG) >= 0) return socket;
    const why = this.#call.lastErrorText();
    this.close(socket);
    return why;
  }

  /**
   * The next caller; null once the listener is closed. `isEncrypted`: the listener has a passphrase. Waits in a thread of Node's pool, which costs
   * nothing; libsrt's own way to wait for several sockets (srt_epoll_wait) looks every 10 ms.
   */
  async nextCaller(listener: number, isEncrypted: boolean): Promise<AcceptedSocket | null> {
    for (;;) {
      const socket = await this.#accept(listener);
      const caller = socket >= 0 ? this.#describe(socket, isEncrypted) : null;
      if (caller) return caller;
      // A caller may have left again before it was accepted.
      if (socket >= 0) this.close(socket);
      else if (this.#call.getState(listener) !== STATE.listening) return null;
    }
  }

  /** Receives one message, for which `into` must have room. Its bytes; 0 for none yet, -1 if the connection is over. */
  receive(socket: number, into: Uint8Array): number {
    const bytes = this.#call.receive(socket, into, into.length);
    if (bytes >= 0) return bytes;
    return this.#call.lastError(null) === WOULD_WAIT.receive ? 0 : -1;
  }

  /** Packets that were received, and not yet asked for. */
  receivedPackets(socket: number): number {
    return Math.max(0, this.#get(socket, OPTION.receivedPackets));
  }

  /** The time that packets have to arrive, by agreement with the caller. */
  latencyMs(socket: number): number {
    return Math.max(0, this.#get(socket, OPTION.receiveLatency));
  }

  /** Null once the connection is over. */
  figuresOf(socket: number): LinkFigures | null {
    const statistics = this.#statistics;
    if (this.#call.statistics(socket, statistics, 1) < 0) return null;
    return {
      roundTripMs: statistics.readDoubleLE(STATISTIC.roundTripMs),
      received: Number(statistics.readBigInt64LE(STATISTIC.received)),
      lost: statistics.readInt32LE(STATISTIC.lost),
      retransmitted: statistics.readInt32LE(STATISTIC.retransmitted),
      dropped: statistics.readInt32LE(STATISTIC.dropped),
    };
  }

  close(socket: number): void {
    this.#call.close(socket);
  }

  #accept(listener: number): Promise<number> {
    return new Promise((resolve, reject) =>
      this.#call.accept.async(listener, null, null, (error: Error | null, socket: number) =>
        error ? reject(error) : resolve(socket),
      ),
    );
  }

  #describe(socket: number, isEncrypted: boolean): AcceptedSocket | null {
    this.#length.writeInt32LE(this.#name.length);
    if (this.#call.getPeerName(socket, this.#name, this.#length) < 0) return null;
    const address = addressIn(this.#name);
    this.#length.writeInt32LE(this.#streamId.length);
    const hasId = this.#call.getFlag(socket, OPTION.streamId, this.#streamId, this.#length) >= 0;
    const streamId = hasId ? this.#streamId.toString("utf8", 0, this.#length.readInt32LE()) : "";
    const state = this.#get(socket, OPTION.receiveKeyState);
    this.#set(socket, OPTION.receiveWaits, 0);
    return { socket, address, streamId, isKeyShared: state === (isEncrypted ? KEY_STATE.shared : KEY_STATE.none) };
  }

  /** -1 if it cannot be read. */
  #get(socket: number, option: number): number {
    this.#length.writeInt32LE(this.#value.length);
    return this.#call.getFlag(socket, option, this.#value, this.#length) >= 0 ? this.#value.readInt32LE() : -1;
  }

  #set(socket: number, option: number, value: number | string): boolean {
    const bytes = typeof value === "string" ? Buffer.from(value) : Buffer.from(Int32Array.of(value).buffer);
    return this.#call.setFlag(socket, option, bytes, bytes.length) >= 0;
  }
}

function bind(library: LibraryHandle) {
  return {
    startup: library.func("int srt_startup()"),
    createSocket: library.func("int srt_create_socket()"),
    setFlag: library.func("int srt_setsockflag(int socket, int option, const void *value, int length)"),
    bind: library.func("int srt_bind(int socket, const void *name, int length)"),
    listen: library.func("int srt_listen(int socket, int backlog)"),
    accept: library.func("int srt_accept(int socket, void *name, void *length)"),
    getPeerName: library.func("int srt_getpeername(int socket, void *name, void *length)"),
    receive: library.func("int srt_recv(int socket, void *bytes, int length)"),
    getFlag: library.func("int srt_getsockflag(int socket, int option, void *value, void *length)"),
    statistics: library.func("int srt_bstats(int socket, void *statistics, int isReset)"),
    connect: library.func("int srt_connect(int socket, const void *name, int length)"),
    getState: library.func("int srt_getsockstate(int socket)"),
    send: library.func("int srt_send(int socket, const void *bytes, int length)"),
    getSendBuffer: library.func("int srt_getsndbuffer(int socket, void *blocks, void *bytes)"),
    getRejectReason: library.func("int srt_getrejectreason(int socket)"),
    lastError: library.func("int srt_getlasterror(int *systemError)"),
    lastErrorText: library.func("const char *srt_getlasterror_str()"),
    close: library.func("int srt_close(int socket)"),
  };
}
