import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** `open` passes bytes on; `cut` refuses connections and breaks the present ones; `silent` holds bytes back; `slow` delays them. */
export type Fault = "open" | "cut" | "silent" | "slow";

const SLOW_MS = 300;

interface Line {
  readonly front: Socket;
  readonly back: Socket;
  /** It has asked for notifications. */
  isListening: boolean;
}

/** A TCP line on loopback to a server behind it, with faults. PostgreSQL's LISTEN connections can fail by themselves. */
export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  readonly #dial: () => Socket;
  #fault: Fault = "open";
  #isDeaf = false;

  private constructor(dial: () => Socket) {
    this.#dial = dial;
    this.#server = createServer((front) => this.#accept(front));
  }

  static async open(dial: () => Socket): Promise<FaultProxy> {
    const proxy = new FaultProxy(dial);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  set fault(fault: Fault) {
    this.#fault = fault;
    for (const line of this.#lines) this.#apply(line);
  }

  /** Notifications are held back, as when only that connection hangs. */
  set isDeaf(isDeaf: boolean) {
    this.#isDeaf = isDeaf;
    for (const line of this.#lines) this.#apply(line);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.fault = "cut";
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #accept(front: Socket): void {
    if (this.#fault === "cut") return void front.destroy();
    const line: Line = { front, back: this.#dial(), isListening: false };
    this.#lines.add(line);
    const end = () => {
      this.#lines.delete(line);
      front.destroy();
      line.back.destroy();
    };
    for (const socket of [front, line.back]) socket.setNoDelay(true).on("error", end).on("close", end);
    front.on("data", (bytes) => {
      if (bytes.includes('listen "')) {
        line.isListening = true;
        this.#apply(line);
      }
      this.#pass(bytes, line.back);
    });
    line.back.on("data", (bytes) => this.#pass(bytes, front));
    this.#apply(line);
  }

  #pass(bytes: Buffer, to: Socket): void {
    if (this.#fault === "slow") setTimeout(() => to.write(bytes), SLOW_MS);
    else to.write(bytes);
  }

  #apply(line: Line): void {
    const { front, back } = line;
    if (this.#fault === "cut") {
      front.destroy();
      back.destroy();
    } else if (this.#fault === "silent" || (this.#isDeaf && line.isListening)) back.pause();
    else back.resume();
    // What is asked is held back as well, unless it is to be answered by nobody alone.
    if (this.#fault === "silent") front.pause();
    else if (this.#fault !== "cut") front.resume();
  }
}
