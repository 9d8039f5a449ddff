import { RtspReader, type RtspRequest, type RtspResponse } from "@weir/formats/rtsp";
import type { Clock } from "../../../../platform/clock.ts";
import type { Outbound } from "../../../../platform/outbound/outbound.ts";
import { SourceLine } from "../source-line.ts";
import { LOST, SourceProblem, UNREACHABLE } from "../source-problem.ts";
import type { RtspCredentials } from "./rtsp-credentials.ts";

/** From a request, or the connection's begin, to the whole answer. */
const ANSWER_WITHIN_MS = 15_000;
/** Of one request. A server may call each answer to its challenge too old. */
const MAX_CHALLENGES = 3;

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
  readonly #credentials: RtspCredentials | null;
  readonly #line: SourceLine<RtspPacket>;
  #sequence = 0;
  #answers = new Map<number, (answer: RtspResponse) => void>();

  /** Resolves when it is open. Throws `SourceProblem`, and the signal's reason. */
  static async open(url: string, settings: RtspConnectionSettings): Promise<RtspConnection> {
    const connection = new RtspConnection(url, settings);
    const line = connection.#line;
    try {
      await line.until(() => line.isOpen, ANSWER_WITHIN_MS, UNREACHABLE);
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
    return connection;
  }

  private constructor(url: string, settings: RtspConnectionSettings) {
    this.#credentials = settings.credentials;
    const reader = new RtspReader({
      response: (response) => this.#answered(response),
      request: (request) => this.#asked(request),
      // A copy: a few bytes would keep all that came with them.
      packet: (channel, bytes) => this.#line.arrived({ channel, bytes: new Uint8Array(bytes) }),
    });
    this.#line = new SourceLine({ url, isSecure: /^rtsps:/i.test(url) }, settings, {
      read: (bytes) => reader.push(bytes),
      bytesOf: ({ bytes }) => bytes.byteLength,
      damaged: "The source does not speak RTSP, or what it sent is damaged.",
    });
  }

  /** Sends a request, with credentials if the server wants them. Throws `SourceProblem`, and the signal's reason. */
  async ask(method: string, url: string, headers: Readonly<Record<string, string>> = {}): Promise<RtspResponse> {
    for (let challenges = 1; ; challenges++) {
      const answer = await this.#exchange(method, url, headers);
      if (answer.status !== 401) return answer;
      const isNew = this.#credentials?.take(answer.headers.get("www-authenticate") ?? []);
      if (!isNew || challenges > MAX_CHALLENGES)
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
    if (this.#line.hasFailed || this.#line.isUnread) return;
    this.#answers.clear();
    this.#answers.set(this.#send(method, url, headers), answered);
  }

  /** The next packet, of any channel. Throws `SourceProblem`, and the signal's reason. */
  async next(): Promise<RtspPacket> {
    // Without an end there is always another.
    return (await this.#line.next()) as RtspPacket;
  }

  [Symbol.dispose](): void {
    this.#line.end();
  }

  async #exchange(method: string, url: string, headers: Readonly<Record<string, string>>): Promise<RtspResponse> {
    let found: RtspResponse | null = null;
    this.#answers.set(this.#send(method, url, headers), (answer) => {
      found = answer;
    });
    await this.#line.until(() => found !== null, ANSWER_WITHIN_MS, "The source did not answer within 15 s.");
    return found as unknown as RtspResponse;
  }

  #send(method: string, url: string, headers: Readonly<Record<string, string>>): number {
    const authorization = this.#credentials?.answer(method, url);
    const lines = Object.entries({
      CSeq: String(++this.#sequence),
      "User-Agent": "weir",
      ...headers,
      ...(authorization && { Authorization: authorization }),
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#line.write(`${method} ${url} RTSP/1.0\r\n${lines.join("")}\r\n`);
    return this.#sequence;
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
    this.#line.changed();
  }

  #asked({ method, headers }: RtspRequest): void {
    const number = headers.get("cseq")?.[0] ?? "";
    const status = method === "OPTIONS" || method === "GET_PARAMETER" ? "200 OK" : "501 Not Implemented";
    const answer = `RTSP/1.0 ${status}\r\nCSeq: ${/^\d{1,10}$/.test(number) ? number : 0}\r\n\r\n`;
    // A server that asks and does not read.
    if (!this.#line.write(answer)) return this.#line.fail(new SourceProblem(LOST));
    if (method === "REDIRECT") this.#line.fail(new SourceProblem("The source asks to connect elsewhere."));
  }
}
