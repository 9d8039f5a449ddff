import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy between an edge and the server that records the edge's requests. */
export class WatchedProxy {
  /** Path and query of every request; for an edge's access check, `? ` and the checked URL. */
  readonly asked: string[] = [];
  /** Responses to matching paths wait for this. */
  hold: { readonly path: RegExp; readonly until: Promise<void> } | null = null;
  readonly #server: Server;

  private constructor(targetPort: number) {
    this.#server = createServer({ maxHeaderSize: 24 * 1024 }, async (req, res) => {
      const url = req.url ?? "";
      const about = req.headers["x-original-uri"];
      this.asked.push(about === undefined ? url : `? ${about}`);
      if (this.hold?.path.test(url)) await this.hold.until;
      const onward = request({
        host: "127.0.0.1",
        port: targetPort,
        path: url,
        method: req.method,
        headers: req.headers,
      });
      onward.on("response", (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(res);
      });
      onward.on("error", () => res.destroy());
      res.on("close", () => onward.destroy());
      req.pipe(onward);
    });
  }

  static async start(targetPort: number): Promise<WatchedProxy> {
    const proxy = new WatchedProxy(targetPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Number of requests for a file, with any token in the URL. */
  timesAskedFor(file: string): number {
    return this.asked.filter((url) => !url.startsWith("?") && url.endsWith(file)).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
