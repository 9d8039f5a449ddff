import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock, systemClock } from "../../../platform/clock.ts";
import { silentLog } from "../../../platform/log.ts";
import { Outbound } from "../../../platform/outbound/outbound.ts";
import { PRIVATE_ADDRESS } from "../../../platform/outbound/outbound-url.ts";
import type { TargetFailure } from "../target-connection.ts";
import { connectSrt } from "./srt-connection.ts";
import { type SrtLinkHandler, SrtProcess } from "./srt-process.ts";

const PROTOCOL = new URL("./srt-protocol.ts", import.meta.url).href;
const CALL = { streamId: "key", passphrase: null, keyBytes: 0, latencyMs: 120, address: "127.0.0.1", port: 9000 };

let folder: string;
const processes: SrtProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "weir-srt-"));
});
afterEach(async () => {
  for (const process of processes.splice(0)) await process.close();
  await rm(folder, { recursive: true });
});

/** A process whose child handles each message with `body`, in JavaScript. */
async function srtProcess(body: string, clock = systemClock): Promise<SrtProcess> {
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
  const process = new SrtProcess({ clock, log: silentLog, child });
  processes.push(process);
  return process;
}

function handler() {
  const told: string[] = [];
  const taken: SrtLinkHandler = {
    connected: () => told.push("connected"),
    taken: (bytes) => told.push(`taken ${bytes}`),
    failed: ({ reason, isTemporary }) => told.push(`failed (${isTemporary}): ${reason}`),
  };
  return { told, taken };
}

const TAKES_ALL = `
  if (message.type === "call") send({ type: "connected", id: message.id });
  if (message.type === "media") send({ type: "taken", taken: [[message.id, message.bytes.length]] });`;

test("killing the child fails its connections, and the next one starts a new child", async () => {
  const srt = await srtProcess(TAKES_ALL);
  const first = handler();
  const link = srt.connect(CALL, first.taken);
  link.send(new Uint8Array(1_316));
  await expect.poll(() => first.told).toEqual(["connected", "taken 1316"]);
  const killed = srt.pid;
  process.kill(killed, "SIGKILL");
  await expect
    .poll(() => first.told.at(-1))
    .toBe("failed (true): The process that sends over SRT ended; a new one is starting.");
  expect(srt.pid).toBe(0);
  link.send(new Uint8Array(1));

  const second = handler();
  srt.connect(CALL, second.taken);
  await expect.poll(() => second.told).toEqual(["connected"]);
  expect(srt.pid).not.toBe(killed);
});

test("a child that says nothing for half a minute after its start is killed", async () => {
  const clock = new ManualClock();
  const srt = await srtProcess("", clock);
  const { told, taken } = handler();
  srt.connect(CALL, taken);
  clock.advance(29_000);
  expect(srt.pid).toBeGreaterThan(0);
  clock.advance(3_000);
  await expect.poll(() => told).toEqual([expect.stringContaining("failed (true)")]);
});

test("without libsrt the target is given up, with instructions to install it", async () => {
  const srt = await srtProcess(`send({ type: "no-library" });`);
  const { told, taken } = handler();
  srt.connect(CALL, taken);
  await expect
    .poll(() => told)
    .toEqual([
      "failed (false): This server cannot send over SRT, because it has no libsrt. Install it (Debian and Ubuntu: apt-get install libsrt1.5-gnutls), then restart the stream.",
    ]);
});

test("unacknowledged bytes count as queued, and the checked address is the one connected to", async () => {
  const srt = await srtProcess(TAKES_ALL);
  const called: unknown[] = [];
  const outbound = new Outbound({
    clock: systemClock,
    allowPrivate: false,
    own: () => ({ ports: [], publicUrl: "http://weir.test" }),
    resolve: async () => ["8.8.8.8"],
  });
  const ready = Promise.withResolvers<void>();
  const connection = connectSrt({
    ...{ clock: systemClock, log: silentLog, outbound, onOver: () => {} },
    srt: {
      connect: (call, events) => {
        called.push(call);
        return srt.connect(call, events);
      },
    },
    url: "srt://target.example:9000?streamid=key",
    handler: { ready: () => ready.resolve(), failed: ({ reason }) => ready.reject(new Error(reason)) },
  });
  if (typeof connection === "string") throw new Error(connection);
  await ready.promise;
  expect(called).toEqual([{ ...CALL, address: "8.8.8.8" }]);
  connection.write(new Uint8Array(188));
  expect(connection.queuedBytes).toBe(188);
  await expect.poll(() => connection.queuedBytes).toBe(0);
  connection.destroy();
});

test.each([
  ["srt://127.0.0.1:9000", PRIVATE_ADDRESS],
  ["srt://inside.example:9000", PRIVATE_ADDRESS],
  ["srt://target.example:6379", "port 6379 is not one that calls may go to"],
  ["srt://target.example?streamid=key", "it has no port: srt://host:port?streamid=key"],
])("no connection is made to %s", async (url, words) => {
  const outbound = new Outbound({
    clock: systemClock,
    allowPrivate: false,
    own: () => ({ ports: [], publicUrl: "http://weir.test" }),
    resolve: async () => ["8.8.8.8", "10.0.0.1"],
  });
  const failed = Promise.withResolvers<TargetFailure>();
  const connection = connectSrt({
    ...{ clock: systemClock, log: silentLog, outbound, url, onOver: () => {} },
    srt: { connect: () => expect.unreachable("nobody may connect there") },
    handler: { ready: () => {}, failed: failed.resolve },
  });
  const why = typeof connection === "string" ? connection : (await failed.promise).reason;
  expect(why).toContain(words);
});
