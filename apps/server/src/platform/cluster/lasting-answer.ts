import { connect, type Socket } from "node:net";
import type { Clock } from "../clock.ts";

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_WITHIN_MS = 2_000;
const END_OF_HEAD = "\r\n\r\n";

export interface LastingRequest {
  readonly to: { readonly host: string; readonly port: number } | { readonly socketPath: string };
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface LastingReader {
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** What the socket reads into: one may serve all, as `take` is done with it when it returns. */
  readonly buffer: Buffer;
  /** Takes the body of an answer 200, in views that are valid until it returns. What it throws ends the connection. */
  readonly take: (bytes: Buffer) => void;
}

/**
 * Reads the answer to a GET that lasts as long as its connection. Node's own client makes a buffer of 64 KiB for each read, and V8 collects its whole
 * heap for every 64 MiB of them: with 25 copies of 2 Mbit/s that cost ten times what the copies do. So this speaks HTTP/1.0 over a socket, whose
 * answers have no chunks. Resolves with the status when the answer has ended; rejects if there is none, or the connection breaks.
 */
export function readLasting(
  { to, path, headers }: LastingRequest,
  { clock, signal, buffer, take }: LastingReader,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let head = "";
  let status: number | null = null;
  const read = (bytes: Buffer): void => {
    if (status !== null) return status === 200 ? take(bytes) : undefined;
    head += bytes.toString("latin1");
    const end = head.indexOf(END_OF_HEAD);
    if (end < 0 && head.length < MAX_HEAD_BYTES) return;
    const [, code] = /^HTTP\/1\.[01] (\d{3}) /.exec(head) ?? [];
    if (end < 0 || code === undefined) throw new Error("the node's answer is not one of HTTP");
    status = Number(code);
    late.cancel();
    const bodyBytes = head.length - end - END_OF_HEAD.length;
    head = "";
    if (bodyBytes > 0) read(bytes.subarray(bytes.length - bodyBytes));
  };
  const socket: Socket = connect({
    ...("socketPath" in to ? { path: to.socketPath } : to),
    signal,
    noDelay: true,
    onread: {
      buffer,
      callback: (size) => {
        try {
          read(buffer.subarray(0, size));
        } catch (error) {
          socket.destroy(error as Error);
        }
        return true;
      },
    },
  });
  const late = clock.after(HEAD_WITHIN_MS, () => socket.destroy(new Error("the node does not answer")));
  socket.on("error", reject);
  socket.on("close", () => {
    late.cancel();
    if (status === null) reject(new Error("the node has closed the connection"));
    else resolve(status);
  });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.0\r\n${lines.join("")}\r\n`);
  return promise;
}
