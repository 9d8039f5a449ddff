import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setInterval } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Outbound } from "../../platform/outbound/outbound.ts";
import { Libsrt } from "../srt/libsrt.ts";
import { type SrtGuest, SrtProcess } from "../srt/srt-process.ts";
import { Restreaming } from "./restreaming.ts";
import type { TargetFailure } from "./target-connection.ts";

/** SRT targets that try to harm the server, beside one that does not. Both sides have the system's libsrt. */

const MESSAGE = 7 * 188;
const MESSAGES = 300;
const INTERVAL_MS = 10;
const missing = (await Libsrt.load()) === null ? " (skipped: no libsrt; apt-get install libsrt1.5-gnutls)" : "";

let targets: SrtProcess;
let ours: SrtProcess;
let restreaming: Restreaming;
let port: number;
/** Numbers of the messages that the good target got. */
const numbers: number[] = [];

beforeAll(async () => {
  if (missing !== "") return;
  const probe = createSocket("udp4").bind(0, "127.0.0.1");
  await once(probe, "listening");
  port = probe.address().port;
  await new Promise<void>((resolve) => probe.close(resolve));
  targets = new SrtProcess({ clock: systemClock, log: silentLog });
  expect(await targets.listen({ host: "127.0.0.1", port, passphrase: null }, { guest: welcome })).toEqual({
    at: "listening",
  });
  ours = new SrtProcess({ clock: systemClock, log: silentLog });
  const own = () => ({ ports: [], publicUrl: "http://weir.test" });
  const outbound = new Outbound({ clock: systemClock, allowPrivate: true, own, resolve: async () => ["127.0.0.1"] });
  restreaming = new Restreaming({ clock: systemClock, log: silentLog, outbound, srt: ours });
});
afterAll(() => Promise.all([targets?.close(), ours?.close()]));

/** The stream id says how the target behaves: one that is not asked to receive never reads more than its first message. */
function welcome(guest: SrtGuest) {
  if (guest.streamId === "good") guest.receive();
  if (guest.streamId === "closes") guest.close();
  let rest = Buffer.alloc(0);
  return {
    media(bytes: Uint8Array) {
      if (guest.streamId !== "good") return;
      rest = Buffer.concat([rest, bytes]);
      for (; rest.length >= MESSAGE; rest = rest.subarray(MESSAGE)) numbers.push(rest.readUInt32BE());
    },
    link() {},
    gone() {},
  };
}

function connect(url: string) {
  const ready = Promise.withResolvers<void>();
  const failed = Promise.withResolvers<TargetFailure>();
  const handler = { ready: () => ready.resolve(), failed: failed.resolve };
  const connection = restreaming.connectFor("project")(url, handler);
  return { connection, ready: ready.promise, failed: failed.promise };
}

const target = (streamId: string) => connect(`srt://127.0.0.1:${port}?streamid=${streamId}&latency=2000`);

/** Answers every packet with its own bytes, some of them changed, and with noise. */
async function openGarbage() {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  let seed = 28;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  let answers = 0;
  socket.on("message", (message, { port: to }) => {
    for (let n = 0; n < 20; n++, answers++) {
      const answer = n % 2 === 0 ? Buffer.from(message) : Buffer.alloc(random(1_456));
      for (let flips = 1 + random(16); flips > 0 && answer.length > 0; flips--)
        answer[random(answer.length)] = random(256);
      socket.send(answer, to, "127.0.0.1");
    }
  });
  return {
    port: (socket.address() as AddressInfo).port,
    answers: () => answers,
    [Symbol.dispose]: () => void socket.close(),
  };
}

test.skipIf(missing !== "")(
  `targets that never read, answer garbage or close harm nobody beside them${missing}`,
  async () => {
    using garbage = await openGarbage();
    const good = target("good");
    const silent = target("never-reads");
    await Promise.all([good.ready, silent.ready]);
    const { pid } = ours;
    const closing = target("closes");
    const lying = connect(`srt://127.0.0.1:${garbage.port}?streamid=key`);
    const startedAt = performance.now();
    let sent = 0;
    // The pace of an encoder.
    for await (const _tick of setInterval(INTERVAL_MS)) {
      // The one that never reads gets as much as an outlet gives: up to the limit of its queue.
      while (silent.connection.queuedBytes < restreaming.maxQueued())
        silent.connection.write(Buffer.alloc(MESSAGE * 10));
      for (; sent < (performance.now() - startedAt) / INTERVAL_MS && sent < MESSAGES; sent++) {
        const message = Buffer.alloc(MESSAGE);
        message.writeUInt32BE(sent);
        good.connection.write(message);
      }
      if (sent === MESSAGES) break;
    }
    expect(await closing.failed).toEqual({ reason: expect.stringContaining("The target "), isTemporary: true });
    expect(await lying.failed).toEqual({ reason: expect.stringContaining("The target "), isTemporary: true });
    expect(garbage.answers()).toBeGreaterThan(0);
    await expect.poll(() => numbers.length, { timeout: 10_000 }).toBe(MESSAGES);
    expect(numbers).toEqual(Array.from({ length: MESSAGES }, (_, n) => n));
    silent.connection.destroy();
    good.connection.close();
    expect(ours.pid).toBe(pid);
  },
  60_000,
);
