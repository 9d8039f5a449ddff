import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { SrtProcess } from "./srt-process.ts";

const PROTOCOL = new URL("./srt-protocol.ts", import.meta.url).href;

/** Accepts every connection, and confirms what it gets. */
export const TAKES_ALL = `
  if (message.type === "call") send({ type: "connected", id: message.id });
  if (message.type === "media") send({ type: "taken", taken: [[message.id, message.bytes.length]] });`;

/** Processes whose child handles each message with a `body`, in JavaScript. */
export class SrtProcessRig implements AsyncDisposable {
  readonly #opened = new AsyncDisposableStack();

  async open(body: string, clock: Clock = systemClock): Promise<SrtProcess> {
    const folder = await mkdtemp(join(tmpdir(), "weir-srt-"));
    this.#opened.defer(() => rm(folder, { recursive: true }));
    const child = join(folder, "child.mjs");
    await writeFile(
      child,
      `import { Socket } from "node:net";
      import { frameFromSrtChild, toSrtChildReader } from "${PROTOCOL}";
      const input = new Socket({ fd: 3 }), output = new Socket({ fd: 4, readable: false, writable: true });
      const send = (message) => output.write(frameFromSrtChild(message));
      const read = toSrtChildReader();
      input.on("close", () => process.exit(0)).on("data", (bytes) => { for (const message of read(bytes)) take(message); });
      function take(message) { ${body} }`,
    );
    const srt = new SrtProcess({ clock, log: silentLog, child });
    this.#opened.defer(() => srt.close());
    return srt;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}
