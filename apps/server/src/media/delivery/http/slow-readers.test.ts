import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Timer } from "../../../platform/clock.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { closeSlowReaders } from "./slow-readers.ts";

const CHECK_MS = 10_000;

/** A connection of whose answer the client has taken `taken` bytes, and has others to take. */
class Reader extends EventEmitter {
  bytesWritten = 0;
  writableLength = 0;
  isClosed = false;

  behind(taken: number, pending: number): void {
    this.bytesWritten = taken + pending;
    this.writableLength = pending;
  }

  destroy(): void {
    this.isClosed = true;
    this.emit("close");
  }
}

let clock: ManualClock;
let server: EventEmitter;
let timer: Timer;
beforeEach(() => {
  clock = new ManualClock(Date.UTC(2030, 0, 1));
  server = new EventEmitter();
  timer = closeSlowReaders(server as Server, clock);
});
afterEach(() => timer.cancel());

function opened(): Reader {
  const reader = new Reader();
  server.emit("connection", reader as unknown as Socket);
  return reader;
}

/** For how many checks the connection stays open if it takes `bytes` between two of them. */
function checksOf(bytes: number, most = 1_000): number {
  const reader = opened();
  for (let check = 1; check <= most; check++) {
    reader.behind(check * bytes, 1_000_000);
    clock.advance(CHECK_MS);
    if (reader.isClosed) return check;
  }
  return most;
}

test("a client that takes one byte a second of its answer is closed at the second look", () => {
  expect(checksOf(10)).toBe(2);
});

test("a client below the rate of any video has a minute more; one above it stays for as long as it takes", () => {
  const [slow, fast] = [checksOf(17_000), checksOf(40_000)];
  expect(slow).toBeGreaterThan(6);
  expect(slow).toBeLessThan(20);
  expect(fast).toBe(1_000);
});

test("a client that has caught up begins anew, and one with nothing to take is left alone", () => {
  const [idle, reader] = [opened(), opened()];
  for (let check = 0; check < 100; check++) {
    reader.behind(check, check % 2 === 0 ? 0 : 1_000_000);
    clock.advance(CHECK_MS);
  }
  expect([idle.isClosed, reader.isClosed]).toEqual([false, false]);
});

test("a real connection whose client reads nothing is closed, and the response with it", async () => {
  const http = createServer((_req, res) => void res.end(Buffer.alloc(64 * 1024 * 1024)));
  const watching = closeSlowReaders(http, clock);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const client = connect((http.address() as AddressInfo).port, "127.0.0.1");
  try {
    const answered = new Promise<EventEmitter>((resolve) => http.once("request", (_req, res) => resolve(res)));
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    const closed = once(await answered, "close");
    // What the system holds for the client counts as taken: it fills up within some looks.
    let isClosed = false;
    const over = closed.then(() => {
      isClosed = true;
    });
    for (let look = 0; look < 100 && !isClosed; look++) {
      clock.advance(CHECK_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(isClosed).toBe(true);
    await over;
  } finally {
    client.destroy();
    watching.cancel();
    await new Promise((resolve) => http.close(resolve));
  }
});
