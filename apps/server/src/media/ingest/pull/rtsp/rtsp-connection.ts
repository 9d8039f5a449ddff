import type { Socket } from "node:net";
import { FormatError } from "@weir/formats/bits";
import { RtspReader, type RtspRequest, type RtspResponse } from "@weir/formats/rtsp";
import type { Clock } from "../../../../platform/clock.ts";
import { type Outbound, PULL } from "../../../../platform/outbound/outbound.ts";
import { CLOSED, connectionProblem, LOST, notCalled, SourceProblem, UNREACHABLE } from "../source-problem.ts";
import type { RtspCredentials } from "./rtsp-credentials.ts";

/** From a request, or the connection's begin, to the whole answer. */
const ANSWER_WITHIN_MS = 15_000;
const QUIET_MS = 15_000;
/** The connection is not read beyond this. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
/** Unsent answers to a server that asks and does not read. */
const MAX_UNSENT_BYTES = 64 * 1024;

export interface RtspPacket {
  readonly channel: number;
  readonly bytes: Uint8Array;
}

export interface RtspConnectionSettings {
  readonly outbound: Pick<Outbound, "dial">;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Null for a host that gets none. */
  readonly credentials: RtspCredentials | null;
}

/** A client's connection to an RTSP server: one request at a time, and the packets that come between the answers. */
export class RtspConnection implements Disposable {
  readonly #settings: RtspConnectionSettings;
  readonly #socket: Socket;
  readonly #reader: RtspReader;
  readonly #packets: RtspPacket[] = [];
  #bytes = 0;
  #sequence = 0;
  #isOpen = false;
  #failure: Error | null = null;
  #answers = new Map<number, (answer: RtspResponse) => void>();
  #wake: () => void = () => {};
  readonly #stop: () => void;

  /** Resolves when it is open. Throws `SourceProblem`, and the signal's reason. */
  static async open(url: string, settings: RtspConnectionSettings): Promise<RtspConnection> {
    settings.signal.throwIfAborted();
    const socket = settings.outbound.dial({ url, purpose: PULL, isSecure: /^rtsps:/i.test(url) });
    if (typeof socket === "string") throw new SourceProblem(notCalled(socket));
    const connection = new RtspConnection(socket, /^rtsps:/i.test(url), settings);
    try {
      await connection.#until(() => connection.#isOpen, UNREACHABLE);
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
    return connection;
  }

  private constructor(socket: Socket, isSecure: boolean, settings: RtspConnectionSettings) {
    this.#settings = settings;
    this.#socket = socket;
    this.#reader = new RtspReader({
      response: (response) => this.#answered(response),
      request: (request) => this.#asked(request),
      packet: (channel, bytes) => this.#arrived({ channel, bytes }),
    });
    this.#stop = () => this.#fail(settings.signal.reason);
    settings.signal.addEventListener("abort", this.#stop, { once: true });
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      this.#isOpen = true;
      this.#wake();
    });
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => this.#fail(new SourceProblem(this.#isOpen ? LOST : connectionProblem(error))));
    socket.on("close", () => this.#fail(new SourceProblem(this.#isOpen ? CLOSED : UNREACHABLE)));
  }

  /** Sends a request, with credentials if the server wants them. Throws `SourceProblem`, and the signal's reason. */
  async ask(method: string, url: string, headers: Readonly<Record<string, string>> = {}): Promise<RtspResponse> {
    const { credentials } = this.#settings;
    for (;;) {
      const answer = await this.#exchange(method, url, headers);
      if (answer.status !== 401) return answer;
      if (!credentials?.take(answer.headers.get("www-authenticate") ?? []))
        throw new SourceProblem("The source answered 401. Check its user name and password.");
    }
  }

  /** Sends a request whose answer is of no interest, except to `answered`. */
  tell(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    answered = (_: RtspResponse) => {},
  ): void {
    if (this.#failure || this.#socket.writableLength > MAX_UNSENT_BYTES) return;
    this.#answers.clear();
    this.#answers.set(this.#send(method, url, headers), answered);
  }

  /** The next packet, of any channel. Throws `SourceProblem`, and the signal's reason. */
  async next(): Promise<RtspPacket> {
    await this.#until(() => this.#packets.length > 0, LOST, QUIET_MS);
    const packet = this.#packets.shift() as RtspPacket;
    this.#bytes -= packet.bytes.byteLength;
    if (this.#bytes < MAX_WAITING_BYTES / 2) this.#socket.resume();
    return packet;
  }

  [Symbol.dispose](): void {
    this.#settings.signal.removeEventListener("abort", this.#stop);
    this.#failure ??= new SourceProblem(LOST);
    // What was asked last may still go out; nothing more is read.
    this.#socket.removeAllListeners("data").on("error", () => {});
    this.#socket.end(() => this.#socket.destroy());
    this.#settings.clock.after(1_000, () => this.#socket.destroy());
  }

  async #exchange(method: string, url: string, headers: Readonly<Record<string, string>>): Promise<RtspResponse> {
    let found: RtspResponse | null = null;
    this.#answers.set(this.#send(method, url, headers), (answer) => {
      found = answer;
    });
    await this.#until(() => found !== null, "The source did not answer within 15 s.");
    return found as unknown as RtspResponse;
  }

  #send(method: string, url: string, headers: Readonly<Record<string, string>>): number {
    const authorization = this.#settings.credentials?.answer(method, url);
    const lines = Object.entries({
      CSeq: String(++this.#sequence),
      "User-Agent": "weir",
      ...headers,
      ...(authorization && { Authorization: authorization }),
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#socket.write(`${method} ${url} RTSP/1.0\r\n${lines.join("")}\r\n`);
    return this.#sequence;
  }

  async #until(isDone: () => boolean, late: string, ms = ANSWER_WITHIN_MS): Promise<void> {
    const deadline = this.#settings.clock.after(ms, () => this.#fail(new SourceProblem(late)));
    try {
      while (!isDone()) {
        if (this.#failure) throw this.#failure;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      deadline.cancel();
    }
  }

  #read(chunk: Buffer): void {
    if (this.#failure) return;
    try {
      this.#reader.push(chunk);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      this.#fail(new SourceProblem("The source does not speak RTSP, or what it sent is damaged."));
    }
  }

  #answered(answer: RtspResponse): void {
    const sequence = Number(answer.headers.get("cseq")?.[0]);
    // 100 Continue
    if (answer.status < 200) return;
    // Some servers forget the number; only one answer is due.
    const [first] = this.#answers.keys();
    const key = Number.isInteger(sequence) ? sequence : (first ?? 0);
    const take = this.#answers.get(key);
    this.#answers.delete(key);
    take?.(answer);
    this.#wake();
  }

  #asked({ method, headers }: RtspRequest): void {
    if (this.#socket.writableLength > MAX_UNSENT_BYTES) return this.#fail(new SourceProblem(LOST));
    const number = headers.get("cseq")?.[0] ?? "";
    const status = method === "OPTIONS" || method === "GET_PARAMETER" ? "200 OK" : "501 Not Implemented";
    this.#socket.write(`RTSP/1.0 ${status}\r\nCSeq: ${/^\d{1,10}$/.test(number) ? number : 0}\r\n\r\n`);
    if (method === "REDIRECT") this.#fail(new SourceProblem("The source asks to connect elsewhere."));
  }

  #arrived(packet: RtspPacket): void {
    this.#packets.push(packet);
    this.#bytes += packet.bytes.byteLength + 64;
    if (this.#bytes > MAX_WAITING_BYTES) this.#socket.pause();
    this.#wake();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    this.#wake();
  }
}
