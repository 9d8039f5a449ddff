import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * How a store behaves: `refusing` answers 503; `slow` takes seconds; `silent` never answers; `full` takes no object; `forgetful` stores an object and answers 500; `torn` breaks off in the middle of an
 * object.
 */
export type StoreFault = "none" | "refusing" | "slow" | "silent" | "full" | "forgetful" | "torn";

const SLOW_MS = 3_000;

/** An S3 server in front of another one, with faults of its own. */
export class FaultyStore implements AsyncDisposable {
  fault: StoreFault = "none";
  readonly #server: Server;
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
    this.#server = createServer((req, res) => void this.#answer(req, res).catch(() => res.destroy()));
  }

  /** `endpoint` of the server behind it. */
  static async open(endpoint: string): Promise<FaultyStore> {
    const store = new FaultyStore(Number(new URL(endpoint).port));
    await new Promise<void>((resolve) => store.#server.listen(0, "127.0.0.1", resolve));
    return store;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { fault } = this;
    const isWrite = req.method === "PUT" || req.method === "POST";
    req.on("error", () => {});
    res.on("error", () => {});
    if (fault === "silent") return;
    if (fault === "refusing") return refuse(req, res, 503, "SlowDown");
    if (fault === "full" && isWrite) return refuse(req, res, 507, "InsufficientStorage");
    if (fault === "slow") await sleep(SLOW_MS);
    const { method, url: path, headers } = req;
    const passed = request({ host: "127.0.0.1", port: this.#port, method, path, headers }, (answer) => {
      answer.on("error", () => res.destroy());
      if (fault === "forgetful" && isWrite) {
        answer.resume();
        answer.on("end", () => res.writeHead(500).end());
        return;
      }
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      if (fault === "torn" && method === "GET") answer.once("data", (bytes: Buffer) => tear(res, bytes));
      else answer.pipe(res);
    });
    passed.on("error", () => res.destroy());
    req.pipe(passed);
  }
}

function refuse(req: IncomingMessage, res: ServerResponse, status: number, code: string): void {
  req.resume();
  res.writeHead(status, { "content-type": "application/xml" }).end(`<Error><Code>${code}</Code></Error>`);
}

function tear(res: ServerResponse, bytes: Buffer): void {
  res.write(bytes.subarray(0, bytes.length >> 1), () => res.destroy());
}
