import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A request from Weir. */
export interface AccessCall {
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly accessKey: string; readonly context: unknown; readonly timestamp: number };
}

/** A customer's server that decides who may watch. */
export class AccessWebhook {
  readonly calls: AccessCall[] = [];
  /** Access keys that are admitted. */
  readonly allowed = new Set<string>();
  /** The response to all others. */
  refusal = 403;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer(async (req, res) => {
      const body = (await json(req)) as AccessCall["body"];
      this.calls.push({ headers: req.headers, body });
      res.writeHead(this.allowed.has(body.accessKey) ? 204 : this.refusal).end();
    });
  }

  static async start(): Promise<AccessWebhook> {
    const webhook = new AccessWebhook();
    await new Promise<void>((resolve) => webhook.#server.listen(0, "127.0.0.1", resolve));
    return webhook;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/may-they-watch`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
