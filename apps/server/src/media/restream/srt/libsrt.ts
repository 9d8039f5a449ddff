import { isIPv6 } from "node:net";
import type { LibraryHandle } from "koffi";
import type { SrtCall } from "./srt-protocol.ts";

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
  ...{ sendWaits: 1, receiveWaits: 2, passphrase: 26, keyBytes: 27, sendDropDelay: 32, connectMs: 36 },
  ...{ peerLatency: 44, streamId: 46 },
};
/** SRT_SOCKSTATUS in srt.h. */
const STATE = { connecting: 4, connected: 5 };
/** SRT_EASYNCSND: the call would block. */
const WOULD_WAIT = 6_001;
const CONNECT_MS = 5_000;
/** AF_INET6 differs between operating systems. */
const FAMILY = { inet: 2, inet6: process.platform === "darwin" ? 30 : 10 };
const NEVER_DROP = -1;

export type SrtState = "connecting" | "connected" | "over";

/** Bindings for sending with libsrt. Sockets are numbers; no call blocks. */
export class Libsrt {
  readonly #call: ReturnType<typeof bind>;
  readonly #blocks = Buffer.alloc(8);
  readonly #bytes = Buffer.alloc(8);

  private constructor(call: ReturnType<typeof bind>) {
    this.#call = call;
    call.startup();
  }

  /** Null if the library is not installed, or this machine has no way to call it. */
  static async load(importKoffi = () => import("koffi")): Promise<Libsrt | null> {
    const koffi = await importKoffi().catch(() => null);
    if (!koffi) return null;
    for (const name of NAMES) {
      try {
        return new Libsrt(bind(koffi.load(name)));
      } catch {
        // Try the next name.
      }
    }
    return null;
  }

  /** Starts to connect. Returns the socket, or a sentence if that failed immediately. */
  connect({ address, port, streamId, passphrase, keyBytes, latencyMs }: SrtCall): number | string {
    const socket = this.#call.createSocket();
    if (socket < 0) return `no SRT socket could be created (${this.#call.lastErrorText()})`;
    const isSet = [
      this.#set(socket, OPTION.receiveWaits, 0),
      this.#set(socket, OPTION.sendWaits, 0),
      this.#set(socket, OPTION.connectMs, CONNECT_MS),
      this.#set(socket, OPTION.peerLatency, latencyMs),
      // The queue's owner drops late media up to the next keyframe. The library would drop arbitrary packets.
      this.#set(socket, OPTION.sendDropDelay, NEVER_DROP),
      streamId === "" || this.#set(socket, OPTION.streamId, streamId),
      keyBytes === 0 || this.#set(socket, OPTION.keyBytes, keyBytes),
      passphrase === null || this.#set(socket, OPTION.passphrase, passphrase),
    ].every(Boolean);
    const name = socketName(address, port);
    if (isSet && this.#call.connect(socket, name, name.length) >= 0) return socket;
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
    return this.#call.lastError(null) === WOULD_WAIT ? "full" : "over";
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

  close(socket: number): void {
    this.#call.close(socket);
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

/** A `sockaddr_in` or `sockaddr_in6`. */
function socketName(address: string, port: number): Buffer {
  const is6 = isIPv6(address);
  const name = Buffer.alloc(is6 ? 28 : 16);
  const family = is6 ? FAMILY.inet6 : FAMILY.inet;
  if (process.platform === "darwin") name.writeUInt16BE((name.length << 8) | family);
  else name.writeUInt16LE(family);
  name.writeUInt16BE(port, 2);
  if (is6) for (const [index, group] of groupsOf(address).entries()) name.writeUInt16BE(group, 8 + 2 * index);
  else name.set(address.split(".").map(Number), 4);
  return name;
}

/** The eight groups of an IPv6 address in any notation. */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address}]`);
  const [left = [], right = []] = hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":")));
  const missing = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...missing, ...right].map((group) => Number.parseInt(group, 16));
}
