import { request } from "node:http";
import { connect, type Socket } from "node:net";

/** Loopback addresses stand for other machines: 127.9.x.y are attackers. */
export function strangerAddress(n = 0): string {
  return `127.9.${1 + (n >> 8)}.${1 + (n & 255)}`;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

interface AskOptions {
  readonly from?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly body?: string;
}

/** One request from an attacker's address, with the path unchanged. */
export function ask(
  port: number,
  path: string,
  { from = strangerAddress(), headers = {}, method = "GET", body: sent }: AskOptions = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request({ host: "127.0.0.1", port, path, localAddress: from, agent: false, headers, method });
    asking.on("response", async (response) => {
      let body = "";
      for await (const chunk of response.setEncoding("utf8")) body += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    asking.on("error", reject);
    asking.setTimeout(30_000, () => asking.destroy(new Error("no answer in 30 s")));
    asking.end(sent);
  });
}

/** Opens connections from one address; refused or reset ones are ignored. */
export async function openSockets(port: number, count: number, from = strangerAddress()): Promise<Socket[]> {
  const sockets: Socket[] = [];
  const step = 200;
  for (let n = 0; n < count; n += step) {
    const opened = await Promise.all(Array.from({ length: Math.min(step, count - n) }, () => openSocket(port, from)));
    sockets.push(...opened.filter((socket) => socket !== null));
  }
  return sockets;
}

export async function openSocket(port: number, from = strangerAddress()): Promise<Socket | null> {
  const socket = connect({ host: "127.0.0.1", port, localAddress: from, noDelay: true });
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  socket.on("error", () => {}); // a reset is one of the ways to be refused
  return isOpen ? socket : null;
}

/** Sends without waiting for responses, which are discarded. Resolves when everything is written or the server has closed the connection. */
export function pipeline(socket: Socket, requests: readonly string[]): Promise<void> {
  socket.resume();
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("close", done);
      resolve();
    };
    socket.on("close", done);
    socket.write(requests.map((path) => `GET ${path} HTTP/1.1\r\nHost: weir\r\n\r\n`).join(""), done);
  });
}

/** Resolves when something comes, or the server closes. */
export function answered(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off("data", done).off("close", done);
      resolve();
    };
    socket.on("data", done).on("close", done);
  });
}
