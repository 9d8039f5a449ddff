import { createSocket } from "node:dgram";
import { on, once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { silentLog } from "../../platform/log.ts";
import { Libsrt } from "./libsrt.ts";
import { type SrtGuest, type SrtLink, SrtProcess } from "./srt-process.ts";
import type { SrtLinkReport } from "./srt-protocol.ts";
import { UdpRelay } from "./udp-relay-rig.ts";

/** Both sides are real: the system's libsrt in two processes, on loopback. */

const MESSAGE = 7 * 188;
const INTERVAL_MS = 10;
const PASSPHRASE = "a0secret0passphrase";
const CALL = {
  streamId: "key",
  passphrase: PASSPHRASE,
  keyBytes: 0,
  latencyMs: 120,
  address: "127.0.0.1",
  peer: "target" as const,
};
const SECONDS = Number(process.env.SRT_SECONDS ?? 8);
const missing = (await Libsrt.load()) === null ? " (skipped: no libsrt; apt-get install libsrt1.5-gnutls)" : "";
const net = test.skipIf(missing !== "");

/** What a caller brought, in numbered messages. */
interface Arrived {
  readonly guest: SrtGuest;
  readonly numbers: number[];
  readonly reports: SrtLinkReport[];
  gone: string | null;
}

let server: SrtProcess;
let callers: SrtProcess;
let port: number;
const arrived = new Map<string, Arrived>();

beforeAll(async () => {
  if (missing !== "") return;
  const probe = createSocket("udp4").bind(0, "127.0.0.1");
  await once(probe, "listening");
  port = probe.address().port;
  await new Promise<void>((resolve) => probe.close(resolve));
  server = new SrtProcess({ clock: systemClock, log: silentLog });
  callers = new SrtProcess({ clock: systemClock, log: silentLog });
  const listening = await server.listen({ host: "127.0.0.1", port, passphrase: PASSPHRASE }, { guest: welcome });
  expect(listening).toEqual({ at: "listening" });
});
afterAll(() => Promise.all([server?.close(), callers?.close()]));

function welcome(guest: SrtGuest) {
  const one: Arrived = { guest, numbers: [], reports: [], gone: null };
  arrived.set(guest.streamId, one);
  if (guest.isKeyShared) guest.receive();
  else if (!/^(wrong|none)$/.test(guest.streamId)) guest.close();
  let rest = Buffer.alloc(0);
  return {
    media(bytes: Uint8Array) {
      rest = Buffer.concat([rest, bytes]);
      for (; rest.length >= MESSAGE; rest = rest.subarray(MESSAGE)) one.numbers.push(rest.readUInt32BE());
    },
    link: (report: SrtLinkReport) => void one.reports.push(report),
    gone(reason: string) {
      one.gone = reason;
    },
  };
}

/** A caller that sends a numbered message of 1 kB every 10 ms, and connects again when it is refused or cut off, as encoders do. */
class Caller {
  readonly streamId: string;
  sent = 0;
  failures = 0;
  readonly #call: typeof CALL & { readonly port: number };
  #link: SrtLink | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(streamId: string, to: number, call: Partial<typeof CALL> = {}) {
    this.streamId = streamId;
    this.#call = { ...CALL, ...call, streamId, port: to };
    this.#connect();
  }

  get arrived(): Arrived | undefined {
    return arrived.get(this.streamId);
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#link?.close(false);
  }

  #connect(): void {
    if (this.#isStopped) return;
    this.#link = callers.connect(this.#call, {
      connected: () => this.#send(performance.now()),
      taken: () => {},
      failed: () => {
        this.failures++;
        clearInterval(this.#timer);
        this.#timer = setTimeout(() => this.#connect(), 100);
      },
    });
  }

  #send(startedAt: number): void {
    this.sent = 0;
    this.#timer = setInterval(() => {
      // As many as the time asks for, however late the timer is.
      while (this.sent < (performance.now() - startedAt) / INTERVAL_MS) {
        const message = Buffer.alloc(MESSAGE);
        message.writeUInt32BE(this.sent++);
        this.#link?.send(message);
      }
    }, INTERVAL_MS);
  }
}

async function sendFor(seconds: number, latencyMs: number, streamId: string): Promise<{ lost: number; told: number }> {
  await using relay = await UdpRelay.open({ target: port, roundTripMs: 60, loss: 0.05 });
  const caller = new Caller(streamId, relay.port, { latencyMs });
  await expect.poll(() => caller.sent, { timeout: (seconds + 20) * 1000 }).toBeGreaterThan(seconds * 100);
  // Nobody repeats the last packet, nor the goodbye, and the losses of the last second are in no report.
  relay.loss = 0;
  const reported = caller.arrived?.reports.length ?? 0;
  await expect.poll(() => caller.arrived?.reports.length, { timeout: 10_000 }).toBeGreaterThan(reported + 1);
  caller.stop();
  await expect.poll(() => caller.arrived?.gone, { timeout: 20_000 }).toBe("the publisher closed the connection");
  const { numbers = [], reports = [] } = caller.arrived ?? {};
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(reports.some(({ lost }) => lost > 0)).toBe(true);
  return { lost: caller.sent - numbers.length, told: reports.reduce((sum, { dropped }) => sum + dropped, 0) };
}

/** How often the process's JavaScript was woken so far. */
const wakesOf = (pid: number): number =>
  Number(/\nvoluntary_ctxt_switches:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/task/${pid}/status`, "utf8"))?.[1]);

const linux = test.skipIf(missing !== "" || !existsSync("/proc/self/status"));

linux(`without callers, the process sleeps${missing}`, async () => {
  const looks: { readonly at: number; readonly wakes: number }[] = [];
  // Its sign of life a second, and what remains of its start.
  const hasSlept = () => {
    const now = { at: performance.now(), wakes: wakesOf(server.pid) };
    looks.push(now);
    return looks.some(({ at, wakes }) => now.at - at >= 2_000 && now.wakes - wakes <= 10);
  };
  await expect.poll(hasSlept, { timeout: 10_000 }).toBe(true);
});

net(
  `at 5 % loss and 60 ms, a latency of 500 ms loses nothing, and one of 240 ms next to nothing, all of it counted${missing}`,
  async () => {
    const [slow, fast] = await Promise.all([sendFor(SECONDS, 500, "slow"), sendFor(SECONDS, 240, "fast")]);
    expect(slow).toEqual({ lost: 0, told: 0 });
    expect(fast.lost).toBeLessThanOrEqual(5);
    expect(fast.told).toBe(fast.lost);
  },
  200_000,
);

net(`a caller whose last packets are lost says goodbye nevertheless${missing}`, async () => {
  await using relay = await UdpRelay.open({ target: port, roundTripMs: 60, loss: 0, losesOnlyMedia: true });
  const caller = new Caller("tail", relay.port);
  await expect.poll(() => caller.arrived?.numbers.length ?? 0).toBeGreaterThan(10);
  relay.loss = 1;
  const { sent } = caller;
  await expect.poll(() => caller.sent).toBeGreaterThan(sent + 10);
  caller.stop();
  await expect.poll(() => caller.arrived?.gone, { timeout: 10_000 }).toBe("the publisher closed the connection");
});

net(`at 30 % loss, reports name late packets within 5 s${missing}`, async () => {
  await using relay = await UdpRelay.open({ target: port, roundTripMs: 60, loss: 0 });
  const caller = new Caller("lossy", relay.port);
  await expect.poll(() => caller.arrived?.reports.length ?? 0).toBeGreaterThan(1);
  expect(caller.arrived?.reports.at(-1)).toMatchObject({ lost: 0, dropped: 0, latencyMs: 120 });
  relay.loss = 0.3;
  const late = () => caller.arrived?.reports.find(({ dropped, lost }) => dropped > 0 && lost > 0);
  await expect.poll(late, { timeout: 5_000 }).toBeDefined();
  expect(late()?.roundTripMs).toBeGreaterThan(50);
  relay.loss = 0;
  caller.stop();
});

/** Names and scheduling policies (field 41 of proc_pid_stat(5)) of a process's threads. */
function policiesOf(pid: number): (readonly [name: string, policy: number])[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    const end = stat.lastIndexOf(")");
    return [stat.slice(stat.indexOf("(") + 1, end), Number(stat.slice(end + 2).split(" ")[38])];
  });
}

linux(`a publisher's threads interrupt nobody, and those of targets are as any${missing}`, async () => {
  const [other, batch] = [0, 3];
  const caller = new Caller("scheduled", port);
  await expect.poll(() => policiesOf(server.pid)).toContainEqual(["SRT:TsbPd", batch]);
  expect(policiesOf(server.pid)).toContainEqual(["MainThread", other]);
  const ofCallers = policiesOf(callers.pid).filter(([name]) => name.startsWith("SRT:"));
  expect(ofCallers.length).toBeGreaterThan(2);
  expect(ofCallers.every(([, policy]) => policy === other)).toBe(true);
  caller.stop();
});

net.each([
  ["a wrong passphrase", "wrong", { passphrase: "another0passphrase" }],
  ["none", "none", { passphrase: null as unknown as string }],
])(`a caller with %s is told from one with the right one${missing}`, async (_what, streamId, call) => {
  const caller = new Caller(streamId, port, call);
  await expect.poll(() => caller.arrived?.guest.isKeyShared, { timeout: 10_000 }).toBe(false);
  caller.arrived?.guest.close();
  await expect.poll(() => caller.failures, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(caller.arrived?.numbers).toEqual([]);
  caller.stop();
});

const INDUCTION = 1;
const CONCLUSION = 0xffff_ffff;

/** A handshake (draft-sharabayko-srt, 3.2.1) without what may follow it. */
function handshake(of: { version: number; extensions: number; type: number; cookie: number; id?: number }): Buffer {
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32BE(0x8000_0000);
  bytes.writeUInt32BE(of.version, 16);
  bytes.writeUInt32BE(of.extensions, 20);
  bytes.writeUInt32BE(1_500, 28);
  bytes.writeUInt32BE(8_192, 32);
  bytes.writeUInt32BE(of.type, 36);
  bytes.writeUInt32BE(of.id ?? 7, 40);
  bytes.writeUInt32BE(of.cookie, 44);
  return bytes;
}

/** SRT_CMD_HSREQ with version 1.5.1, all flags of live media and a latency of 120 ms, and SRT_CMD_SID, whose words are reversed (3.2.1.1, 3.2.1.3). */
const EXTENSIONS = Buffer.concat([
  Buffer.from([0, 1, 0, 3, 0, 1, 5, 1, 0, 0, 0, 0xbf, 0, 120, 0, 120, 0, 5, 0, 3]),
  Buffer.from("mutated key ").swap32(),
]);

net(`ten thousand mutated handshakes harm nobody who is connected${missing}`, async () => {
  const caller = new Caller("bystander", port);
  await expect.poll(() => caller.arrived?.numbers.length ?? 0).toBeGreaterThan(50);
  // Those of the tests before this one have left.
  await expect.poll(() => server.guestCount, { timeout: 20_000 }).toBe(1);
  const { pid } = server;
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  let seed = 28;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const mutate = (handshake: Buffer, from: number): Buffer => {
    const mutated = Buffer.from(
      handshake.subarray(0, random(4) > 0 ? handshake.length : 16 + random(handshake.length - 16)),
    );
    for (let flips = random(12); flips > 0; flips--) mutated[from + random(handshake.length - from)] = random(256);
    return mutated;
  };
  for (let n = 0; n < 8_000; n++) {
    socket.send(mutate(handshake({ version: 4, extensions: 2, type: INDUCTION, cookie: 0 }), 0), port, "127.0.0.1");
    if (n % 200 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  // What follows the cookie is read only with the right one, which depends on the sender's port alone.
  socket.removeAllListeners("message");
  const answers = on(socket, "message", { signal: AbortSignal.timeout(10_000) });
  let cookie = 0;
  while (cookie === 0) {
    socket.send(handshake({ version: 4, extensions: 2, type: INDUCTION, cookie: 0, id: 77 }), port, "127.0.0.1");
    const { value } = (await answers.next()) as { value: [Buffer] };
    if (value[0].readUInt32BE(12) === 77) cookie = value[0].readUInt32BE(44);
  }
  for (let n = 0; n < 2_000; n++) {
    const whole = handshake({ version: 5, extensions: 5, type: CONCLUSION, cookie, id: 1_000 + n });
    socket.send(mutate(Buffer.concat([whole, EXTENSIONS]), 64), port, "127.0.0.1");
    if (n % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect([...arrived.keys()].some((streamId) => streamId.includes("mutated"))).toBe(true);
  const before = caller.arrived?.numbers.length ?? 0;
  await expect.poll(() => caller.arrived?.numbers.length ?? 0).toBeGreaterThan(before + 100);
  const { numbers = [] } = caller.arrived ?? {};
  expect(numbers).toEqual(Array.from(numbers, (_, n) => (numbers[0] ?? 0) + n));
  expect(server.pid).toBe(pid);
  await expect.poll(() => server.guestCount, { timeout: 20_000 }).toBe(1);
  socket.close();
  caller.stop();
});

net(`the process killed with ten publishers is back, and so are they, within 9 s${missing}`, async () => {
  const publishers = Array.from({ length: 10 }, (_, n) => new Caller(`publisher ${n}`, port));
  const bring = (arrivals: readonly (Arrived | undefined)[]) =>
    arrivals.every((one) => (one?.numbers.length ?? 0) > 10 && one?.gone === null);
  await expect.poll(() => bring(publishers.map((publisher) => publisher.arrived))).toBe(true);
  expect(publishers.map(({ failures }) => failures)).toEqual(publishers.map(() => 0));
  const before = publishers.map((publisher) => publisher.arrived);
  const { pid } = server;
  process.kill(pid, "SIGKILL");
  const again = () => publishers.map(({ arrived: one }) => (before.includes(one) ? undefined : one));
  // Callers notice when libsrt hears nothing for 5 s.
  await expect.poll(() => bring(again()), { timeout: 9_000 }).toBe(true);
  expect(before.map((one) => one?.gone)).toEqual(before.map(() => "the SRT process died"));
  expect(server.pid).not.toBe(pid);
  for (const publisher of publishers) publisher.stop();
});
