import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import type { SrtGuest, SrtLinkHandler } from "./srt-process.ts";
import { SrtProcessRig, TAKES_ALL } from "./srt-process-rig.ts";

const CALL = {
  streamId: "key",
  passphrase: null,
  keyBytes: 0,
  latencyMs: 120,
  address: "127.0.0.1",
  port: 9000,
  peer: "target",
} as const;
const PLACE = { host: "127.0.0.1", port: 8890, passphrase: null };

let rig: SrtProcessRig;
beforeEach(() => {
  rig = new SrtProcessRig();
});
afterEach(() => rig[Symbol.asyncDispose]());

function handler() {
  const told: string[] = [];
  const taken: SrtLinkHandler = {
    connected: () => told.push("connected"),
    taken: (bytes) => told.push(`taken ${bytes}`),
    failed: ({ reason, isTemporary }) => told.push(`failed (${isTemporary}): ${reason}`),
  };
  return { told, taken };
}

test("killing the child fails its connections, and the next one starts a new child", async () => {
  const srt = await rig.open(TAKES_ALL);
  const first = handler();
  const link = srt.connect(CALL, first.taken);
  link.send(new Uint8Array(1_316));
  await expect.poll(() => first.told).toEqual(["connected", "taken 1316"]);
  const killed = srt.pid;
  process.kill(killed, "SIGKILL");
  await expect.poll(() => first.told.at(-1)).toBe("failed (true): The SRT process ended; a new one is starting.");
  expect(srt.pid).toBe(0);
  link.send(new Uint8Array(1));

  const second = handler();
  srt.connect(CALL, second.taken);
  await expect.poll(() => second.told).toEqual(["connected"]);
  expect(srt.pid).not.toBe(killed);
});

test("a child that says nothing for half a minute after its start is killed", async () => {
  const clock = new ManualClock();
  const srt = await rig.open("", clock);
  const { told, taken } = handler();
  srt.connect(CALL, taken);
  clock.advance(29_000);
  expect(srt.pid).toBeGreaterThan(0);
  clock.advance(3_000);
  await expect.poll(() => told).toEqual([expect.stringContaining("failed (true)")]);
});

test("a child that writes what is no message is killed", async () => {
  const srt = await rig.open(`output.write(Buffer.from([0, 0, 0, 2, 1, 123]));`);
  const { told, taken } = handler();
  srt.connect(CALL, taken);
  await expect.poll(() => told).toEqual([expect.stringContaining("failed (true)")]);
  expect(srt.pid).toBe(0);
});

test("without libsrt the target is given up, with instructions to install it", async () => {
  const srt = await rig.open(`send({ type: "no-library" });`);
  const { told, taken } = handler();
  srt.connect(CALL, taken);
  await expect
    .poll(() => told)
    .toEqual([
      "failed (false): This server cannot use SRT, because it has no libsrt. Install it (Debian and Ubuntu: apt-get install libsrt1.5-gnutls), then restart the stream.",
    ]);
});

/** A child in which a caller with a number brings a message, and more when it is asked for. */
const ONE_CALLER = `
  const id = 2 ** 31;
  if (message.type === "listen") {
    send({ type: "listening" });
    send({ type: "caller", id, address: "192.0.2.1", streamId: "key", isKeyShared: true });
    send({ type: "media", id, bytes: Buffer.from("first") });
  }
  if (message.type === "receive") send({ type: "media", id, bytes: Buffer.from("more") });
  if (message.type === "close") send({ type: "listening" });`;

test("a caller's first message comes unasked, the rest when it is asked for", async () => {
  const srt = await rig.open(ONE_CALLER);
  const told: string[] = [];
  let guest: SrtGuest | null = null;
  const host = {
    guest: (arrived: SrtGuest) => {
      guest = arrived;
      return {
        media: (bytes: Uint8Array) => void told.push(String(bytes)),
        link: () => {},
        gone: (reason: string) => void told.push(reason),
      };
    },
  };
  expect(await srt.listen(PLACE, host)).toEqual({ at: "listening" });
  await expect.poll(() => told).toEqual(["first"]);
  (guest as SrtGuest | null)?.receive();
  await expect.poll(() => told).toEqual(["first", "more"]);

  process.kill(srt.pid, "SIGKILL");
  await expect.poll(() => told).toEqual(["first", "more", "the SRT process died", "first"]);
  expect(srt.guestCount).toBe(1);
});

test("a guest that is refused as it comes is not kept", async () => {
  const srt = await rig.open(ONE_CALLER);
  const host = {
    guest: (guest: SrtGuest) => {
      guest.close();
      return { media: () => expect.unreachable("it is closed"), link: () => {}, gone: () => {} };
    },
  };
  await srt.listen(PLACE, host);
  await expect.poll(() => srt.listening).toEqual({ at: "listening" });
  expect(srt.guestCount).toBe(0);
});

test("without libsrt nobody is listened to, and no child is started again and again", async () => {
  const clock = new ManualClock();
  const srt = await rig.open(`send({ type: "no-library" });`, clock);
  const host = { guest: () => expect.unreachable("nobody can call") };
  expect(await srt.listen(PLACE, host)).toEqual({ at: "no-library" });
  clock.advance(60_000);
  expect(srt.pid).toBe(0);
});

test("a port that cannot be opened is named with its reason", async () => {
  const srt = await rig.open(`send({ type: "not-listening", reason: "the port is taken" });`);
  const host = { guest: () => expect.unreachable("nobody can call") };
  expect(await srt.listen(PLACE, host)).toEqual({ at: "failed", reason: "the port is taken" });
});
