/** Many readers of one event feed, in a separate process. Receives its job over the IPC channel, reports on request, exits with its parent. */
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

export interface ReadersJob {
  readonly port: number;
  /** Path of the feed with its query. */
  readonly path: string;
  readonly apiKey: string;
  readonly count: number;
}

export interface ReadersReport {
  /** Number of connected readers. */
  readonly open: number;
  readonly events: number;
  /** Milliseconds from an event's timestamp to its arrival; at most 100,000 values. */
  readonly delaysMs: readonly number[];
  readonly lastAt: number;
}

const MAX_DELAYS = 100_000;
/** Stays below the API's rate limit per key. */
const AT_A_TIME = 40;
const PAUSE_MS = 500;

let open = 0;
let events = 0;
let lastAt = 0;
let delaysMs: number[] = [];

process.once("disconnect", () => process.exit(0));
process.on("message", async (message: ReadersJob | "report") => {
  if (message !== "report") return connectAll(message);
  const report: ReadersReport = { open, events, delaysMs, lastAt };
  process.send?.(report);
  events = 0;
  delaysMs = [];
});

async function connectAll({ port, path, apiKey, count }: ReadersJob): Promise<void> {
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${apiKey}\r\nAccept: text/event-stream\r\n\r\n`;
  for (let begun = 0; begun < count; begun += AT_A_TIME) {
    await Promise.all(Array.from({ length: Math.min(AT_A_TIME, count - begun) }, () => read(port, head)));
    await wait(PAUSE_MS);
  }
}

/** Resolves when the response has started. */
function read(port: number, head: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(head));
    let rest = "";
    socket.setEncoding("latin1");
    socket.on("error", () => {});
    socket.once("data", (text: string) => {
      if (!text.startsWith("HTTP/1.1 200 ")) throw new Error(`a reader got the response ${text.split("\r\n", 1)[0]}`);
      open += 1;
      resolve();
    });
    socket.once("close", () => {
      open -= 1;
    });
    socket.on("data", (text: string) => {
      const now = Date.now();
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data: ")) continue;
        events += 1;
        lastAt = now;
        const [, at] = /"timestamp":(\d+)/.exec(line) ?? [];
        if (delaysMs.length < MAX_DELAYS) delaysMs.push(now - Number(at));
      }
    });
  });
}
