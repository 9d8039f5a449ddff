import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";

/** Listens on a port that must not be contacted, and counts connections. */
export class TrapServer implements AsyncDisposable {
  readonly #server: Server;
  #visits = 0;

  private constructor() {
    this.#server = createServer((socket) => {
      this.#visits++;
      socket.on("error", () => {});
      socket.destroy();
    });
  }

  static async open(): Promise<TrapServer> {
    const trap = new TrapServer();
    await new Promise<void>((resolve) => trap.#server.listen(0, "127.0.0.1", resolve));
    return trap;
  }

  get visits(): number {
    return this.#visits;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
