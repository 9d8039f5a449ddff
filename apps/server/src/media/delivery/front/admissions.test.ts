import type { IncomingMessage } from "node:http";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { Audiences } from "../../../platform/audience/index.ts";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { silentLog } from "../../../platform/log.ts";
import { ManualClock } from "../../../platform/manual-clock-rig.ts";
import { FactLog } from "../../testing/fake-gates.ts";
import { FakePlaybackGate } from "../../testing/fake-playback-gate.ts";
import { parseHlsAddress } from "../hls/hls-addresses.ts";
import { HttpAccess } from "../http/http-access.ts";
import { parseMp4Address } from "../mp4/mp4-address.ts";
import type { Admission, Refusal } from "./admission.ts";
import { Admissions } from "./admissions.ts";
import { type GivenAdmission, readGiven } from "./given-admission.ts";

function start() {
  const facts = new FactLog();
  const gate = new FakePlaybackGate();
  const clock = new ManualClock();
  const settings = {
    clock,
    playbackGate: gate,
    eventSink: facts,
    viewerSecret: Buffer.alloc(32),
    viewersPerClient: 2_000,
    audiences: new Audiences(null),
    log: silentLog,
    others: null,
  };
  const admissions = new Admissions(settings);
  onTestFinished(() => admissions.close());
  const requestOf = (url: string, remoteAddress = "203.0.113.1", given: GivenAdmission | null = null) => {
    const req = { method: "GET", headers: {}, headersDistinct: {}, socket: { remoteAddress } };
    const address = parseHlsAddress(url) ?? parseMp4Address(url);
    if (!address) throw new Error(`${url} is no address`);
    return new HttpAccess(req as unknown as IncomingMessage, url, address, new TrustedProxies([]), given);
  };
  /** As another node has decided. */
  const take = async (url: string, given: GivenAdmission) => admissions.admit(requestOf(url, undefined, given));
  const admit = async (url: string, remoteAddress?: string) => admissions.admit(requestOf(url, remoteAddress));
  /** The admission, if the decision is cached. */
  const known = (url: string) => {
    const admission = admissions.admit(requestOf(url));
    return admission instanceof Promise ? null : admission;
  };
  /** URL of a file, for another viewer. */
  const startViewer = async (): Promise<string> => {
    const viewing = admitted(await admit("/hls/playstream1/index.m3u8?jwt=good")).countViewer();
    return `/hls/playstream1/s/${viewing?.token}/session-1/source/1.m4s`;
  };
  return { admissions, gate, facts, clock, admit, take, known, startViewer };
}

function admitted(admission: Admission | Refusal): Admission {
  if (typeof admission === "string") throw new Error(`refused: ${admission}`);
  return admission;
}

test("ten thousand concurrent requests without credentials are one gate query", async () => {
  const { gate, admit } = start();
  gate.policy = "jwt";
  const answers = Array.from({ length: 10_000 }, (_, i) =>
    admit("/hls/playstream1/index.m3u8", `203.0.${i >> 8}.${i & 255}`),
  );
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["denied"]));
  expect(gate.opened.length).toBe(1);
});

test("the number of remembered sessions is bounded; a forgotten one is restored from its token", async () => {
  const { gate, admit, known, startViewer } = start();
  gate.policy = "jwt";
  const first = await startViewer();
  expect(known(first)).toMatchObject({ isShared: true });
  let newest = first;
  for (let i = 0; i < 40_000; i++) newest = await startViewer();
  expect(known(newest)).toMatchObject({ isShared: true });
  expect(known(first)).toBe(null);
  expect(await admit(first)).toMatchObject({ isShared: true });
  expect(known(first)).toMatchObject({ isShared: true });
});

test("a URL token is not valid as a credential, nor a credential as a URL token", async () => {
  const { gate, admit, startViewer } = start();
  gate.policy = "jwt";
  const token = (await startViewer()).split("/")[4];
  expect(await admit(`/hls/playstream1/index.m3u8?jwt=${token}`)).toBe("denied");
  expect(await admit("/hls/playstream1/s/good/session-1/source/1.m4s")).toBe("denied");
});

test("a client that guesses ids is slowed down equally for existing ids, and viewers behind its address continue", async () => {
  const { gate, admit, known, startViewer } = start();
  gate.policy = "jwt";
  const watching = await startViewer();
  for (let i = 0; i < 700; i++) await admit(`/hls/unknown${i}/index.m3u8`);
  const asked = gate.opened.length;
  for (const url of ["/hls/unknown/index.m3u8", "/hls/playstream1/index.m3u8?jwt=bad", "/hls/playstream1/index.m3u8"])
    expect(await admit(url)).toBe("too-many");
  expect([asked, gate.opened.length]).toEqual([651, 651]);
  expect(known(watching)).toMatchObject({ isShared: true });
  expect(admitted(await admit("/hls/playstream1/index.m3u8?jwt=good", "203.0.113.2")).countViewer()).not.toBe(null);
});

test("a neighbour's guesses do not delay public segments: a recently positive decision is renewed immediately", async () => {
  const { admit, known, clock } = start();
  const segment = "/hls/playstream1/s/-/session-1/source/1.m4s";
  expect(await admit("/hls/playstream1/index.m3u8")).toMatchObject({ isShared: true });
  for (let n = 0; n < 650; n++) await admit(`/hls/nosuch${n}/index.m3u8`);
  expect(await admit("/hls/another/index.m3u8")).toBe("too-many");
  clock.advance(6_000);
  for (let n = 0; n < 50; n++) await admit(`/hls/nosuchb${n}/index.m3u8`);
  expect(await admit("/hls/another/index.m3u8")).toBe("too-many");
  expect(known(segment)).toBe(null);
  expect(await admit(segment)).toMatchObject({ isShared: true });
});

test("when full, existing viewers continue, and new ones are neither counted nor given a token", async () => {
  const { gate, admit, clock } = start();
  const viewing = admitted(await admit("/hls/playstream1/index.m3u8?tkn=one")).countViewer();
  expect([viewing?.token, viewing?.playerId]).toEqual(["-", "one"]);
  gate.isFull = true;
  clock.advance(6_000);
  const ends = vi.fn();
  viewing?.whileAllowed(ends);
  clock.advance(4_000);
  await turnOfTheLoop();
  expect(ends).not.toHaveBeenCalled();
  const another = admitted(await admit("/hls/playstream1/index.m3u8?tkn=two", "203.0.113.2"));
  expect(another.countViewer()).toBe(null);
});

test("a viewing lasts until the gate denies access, and ends once", async () => {
  const { admissions, gate, admit, clock } = start();
  gate.policy = "jwt";
  const open = async () => admitted(await admit("/hls/playstream1/staticsource.mp4?jwt=good")).countViewer();
  const ends = [vi.fn(), vi.fn(), vi.fn()];
  const [, , over] = await Promise.all(ends.map(async (end) => (await open())?.whileAllowed(end)));
  over?.();
  const calls = () => ends.map(({ mock }) => mock.calls.length);
  clock.advance(4_000);
  await turnOfTheLoop();
  expect(calls()).toEqual([0, 0, 0]);
  gate.policy = "webhook";
  admissions.accessChanged("another");
  await turnOfTheLoop();
  expect(calls()).toEqual([0, 0, 0]);
  // At a change of rules at once, without the 4 s; both looks of that moment are one end.
  admissions.accessChanged("playstream1");
  clock.advance(4_000);
  await turnOfTheLoop();
  expect(calls()).toEqual([1, 1, 0]);
});

test.each(["public", "jwt"] as const)(
  "a viewer whom another node let watch %s content watches here until this node's gate denies it",
  async (policy) => {
    const [asked, owner] = [start(), start()];
    asked.gate.policy = owner.gate.policy = policy;
    const url = "/hls/playstream1/index.m3u8";
    const there = admitted(await asked.admit(`${url}?jwt=good`));
    if (there.content.kind !== "live") throw new Error("the content is not live");
    const given = readGiven(there.handOver(there.content).admitted);
    if (!given) throw new Error("no admission");
    const ends = vi.fn();
    admitted(await owner.take(url, given))
      .countViewer()
      ?.whileAllowed(ends);
    const look = async () => {
      owner.clock.advance(4_000);
      await turnOfTheLoop();
    };
    for (let looks = 0; looks < 3; looks++) await look();
    expect(ends).not.toHaveBeenCalled();
    owner.gate.policy = "webhook";
    owner.admissions.accessChanged("playstream1");
    await look();
    expect(ends).toHaveBeenCalledOnce();
  },
);

test("a viewing whose gate does not answer ends", async () => {
  const { admissions, gate, admit } = start();
  gate.policy = "jwt";
  const ends = vi.fn();
  admitted(await admit("/hls/playstream1/staticsource.mp4?jwt=good"))
    .countViewer()
    ?.whileAllowed(ends);
  gate.unknown = "away";
  admissions.accessChanged("all");
  await turnOfTheLoop();
  expect(ends).toHaveBeenCalledOnce();
});

test.each(["public", "jwt"] as const)(
  "an owner who previews %s content is no viewer, and watches where it is full",
  async (policy) => {
    const { gate, facts, admit, clock } = start();
    // The decision is already cached for others.
    gate.policy = policy;
    await admit("/hls/playstream1/index.m3u8");
    gate.isFull = true;
    const viewing = admitted(await admit("/hls/playstream1/index.m3u8?jwt=owner.good")).countViewer();
    const segment = `/hls/playstream1/s/${viewing?.token}/session-1/source/1.m4s`;
    expect(admitted(await admit(segment)).countViewer()).not.toBe(null);
    clock.advance(10_000);
    expect(facts.viewerCounts).toEqual([]);
    gate.isFull = false;
    admitted(await admit("/hls/playstream1/index.m3u8?jwt=good")).countViewer();
    clock.advance(10_000);
    expect(facts.viewerCounts).toMatchObject([{ playbackId: "playstream1", now: 1 }]);
  },
);
