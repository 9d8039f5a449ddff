import type { IncomingMessage } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../platform/clock.ts";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { FactLog } from "../testing/fake-gates.ts";
import { FakePlaybackGate } from "../testing/fake-playback-gate.ts";
import { parseMediaAddress } from "./hls/media-address.ts";
import { type Admission, PlaybackAccess } from "./playback-access.ts";

function start() {
  const facts = new FactLog();
  const gate = new FakePlaybackGate(facts);
  const clock = new ManualClock();
  const settings = {
    clock,
    gate,
    eventSink: facts,
    viewerSecret: Buffer.alloc(32),
    proxies: new TrustedProxies([]),
    viewersPerClient: 2_000,
  };
  const access = new PlaybackAccess(settings);
  onTestFinished(() => access.close());
  const ask = (url: string, remoteAddress = "203.0.113.1") => {
    const req = { method: "GET", headers: {}, headersDistinct: {}, socket: { remoteAddress } };
    const address = parseMediaAddress(url);
    if (!address) throw new Error(`${url} is no address`);
    const request = req as unknown as IncomingMessage;
    return { known: access.known(request, address), answer: () => access.ask(request, url, address) };
  };
  /** Address of a file, for one more viewer. */
  const startViewer = async (): Promise<string> => {
    const admission = await ask("/hls/playstream1/index.m3u8?jwt=good").answer();
    return `/hls/playstream1/s/${access.slot(admission as Admission)}/session-1/source/1.m4s`;
  };
  return { gate, access, clock, ask, startViewer };
}

test("70: ten thousand that bring nothing at the same moment are one question", async () => {
  const { gate, ask } = start();
  gate.policy = "jwt";
  const answers = Array.from({ length: 10_000 }, (_, i) =>
    ask("/hls/playstream1/index.m3u8", `203.0.${i >> 8}.${i & 255}`).answer(),
  );
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["denied"]));
  expect(gate.opened.length).toBe(1);
});

test("sessions that are remembered are bounded; who is forgotten goes on from their token", async () => {
  const { gate, ask, startViewer } = start();
  gate.policy = "jwt";
  const first = await startViewer();
  expect(ask(first).known).toMatchObject({ isShared: true });
  let newest = first;
  for (let i = 0; i < 40_000; i++) newest = await startViewer();
  expect(ask(newest).known).toMatchObject({ isShared: true });
  const late = ask(first);
  expect(late.known).toBe(null);
  expect(await late.answer()).toMatchObject({ isShared: true });
  expect(ask(first).known).toMatchObject({ isShared: true });
});

test("a token of an address is no credential in a query, nor a credential a token", async () => {
  const { gate, ask, startViewer } = start();
  gate.policy = "jwt";
  const token = (await startViewer()).split("/")[4];
  expect(await ask(`/hls/playstream1/index.m3u8?jwt=${token}`).answer()).toBe("denied");
  expect(await ask("/hls/playstream1/s/good/session-1/source/1.m4s").answer()).toBe("denied");
});

test("a client that tries ids out is slowed down alike for ids that exist, and who watches behind its address goes on", async () => {
  const { gate, ask, startViewer } = start();
  gate.policy = "jwt";
  const watching = await startViewer();
  for (let i = 0; i < 700; i++) await ask(`/hls/unknown${i}/index.m3u8`).answer();
  const asked = gate.opened.length;
  for (const url of ["/hls/unknown/index.m3u8", "/hls/playstream1/index.m3u8?jwt=bad", "/hls/playstream1/index.m3u8"])
    expect(await ask(url).answer()).toBe("too-many");
  expect([asked, gate.opened.length]).toEqual([651, 651]);
  expect(ask(watching).known).toMatchObject({ isShared: true });
  expect(await ask(watching).answer()).toMatchObject({ isShared: true });
  expect(await ask("/hls/playstream1/index.m3u8?jwt=good", "203.0.113.2").answer()).toMatchObject({ isFull: false });
});

test("a neighbour's guesses hold up nobody's public segments: an answer that was a yes is asked for again at once", async () => {
  const { ask, clock } = start();
  const segment = "/hls/playstream1/s/-/session-1/source/1.m4s";
  expect(await ask("/hls/playstream1/index.m3u8").answer()).toMatchObject({ session: null });
  for (let n = 0; n < 650; n++) await ask(`/hls/nosuch${n}/index.m3u8`).answer();
  expect(await ask("/hls/another/index.m3u8").answer()).toBe("too-many");
  clock.advance(6_000);
  for (let n = 0; n < 50; n++) await ask(`/hls/nosuchb${n}/index.m3u8`).answer();
  expect(await ask("/hls/another/index.m3u8").answer()).toBe("too-many");
  const late = ask(segment);
  expect(late.known).toBe(null);
  expect(await late.answer()).toMatchObject({ session: null });
});
