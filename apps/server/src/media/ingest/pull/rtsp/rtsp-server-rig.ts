import { type AddressInfo, createServer, type Socket } from "node:net";
import { RtspReader, type RtspRequest } from "@weir/formats/rtsp";

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Sent instead of an answer. */
  readonly raw?: string | Uint8Array;
  /** Sent behind the answer. */
  readonly after?: Uint8Array;
  /** Nothing is sent. */
  readonly isSilent?: boolean;
}

export type Script = (request: RtspRequest, socket: Socket) => ScriptedAnswer | undefined;

/** An RTSP server that does what a test says; without a word of it, what a camera does. */
export class RtspTestServer implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly authorizations: string[] = [];
  readonly sockets = new Set<Socket>();
  readonly #sdp: string;
  readonly #script: Script;
  readonly #server = createServer((socket) => this.#serve(socket));

  static async start(sdp: string, script: Script = () => undefined): Promise<RtspTestServer> {
    const server = new RtspTestServer(sdp, script);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  private constructor(sdp: string, script: Script) {
    this.#sdp = sdp;
    this.#script = script;
  }

  get url(): string {
    return `rtsp://127.0.0.1:${this.port}/cam`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.sockets.add(socket.on("error", () => {}));
    socket.once("close", () => this.sockets.delete(socket));
    const reader = new RtspReader({
      response: () => {},
      packet: () => {},
      request: (request) => this.#answer(request, socket),
    });
    socket.on("data", (chunk: Buffer) => reader.push(chunk));
  }

  #answer(request: RtspRequest, socket: Socket): void {
    const { method, url, headers } = request;
    this.asked.push(`${method} ${url.replace(/^rtsps?:\/\/[^/]*/, "")}`);
    this.authorizations.push(headers.get("authorization")?.[0] ?? "");
    const answer = this.#script(request, socket) ?? this.#asCamera(request);
    if (answer.isSilent) return;
    if (answer.raw !== undefined) return void socket.write(answer.raw);
    const { status = 200, body = "" } = answer;
    const lines = [`CSeq: ${headers.get("cseq")?.[0]}`, ...(answer.headers ?? []), `Content-Length: ${body.length}`];
    socket.write(`RTSP/1.0 ${status} Text\r\n${lines.join("\r\n")}\r\n\r\n${body}`);
    if (answer.after) socket.write(answer.after);
  }

  #asCamera({ method, headers }: RtspRequest): ScriptedAnswer {
    if (method === "DESCRIBE") return { body: this.#sdp, headers: ["Content-Base: rtsp://10.1.2.3/cam/"] };
    const transport = headers.get("transport")?.[0] ?? "";
    if (method === "SETUP") return { headers: [`Transport: ${transport}`, "Session: 12345678;timeout=10"] };
    return {};
  }
}

/** A packet between messages. */
export function interleaved(channel: number, bytes: Uint8Array): Uint8Array {
  return Uint8Array.of(0x24, channel, bytes.length >> 8, bytes.length & 0xff, ...bytes);
}
