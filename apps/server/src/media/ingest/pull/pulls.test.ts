import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import type { OutboundBody, OutboundRequest } from "../../../platform/outbound/outbound.ts";
import type { PullGate, PullLease, PullSource } from "../../../ports/index.ts";
import { FakeChildren } from "../../testing/fake-transcoder.ts";
import { IngestRig } from "../ingest-rig.ts";
import { PacedMemory } from "./paced-memory.ts";
import { PullPublisher } from "./pull-publisher.ts";
import { Pulls } from "./pulls.ts";

const TS = readFileSync(new URL("../../../../../../packages/formats/src/ts/corpus/avc-adts.m2t", import.meta.url));
const TWO_LANGUAGES = readFileSync(
  new URL("../../../../../../packages/formats/src/ts/corpus/two-languages.m2t", import.meta.url),
);
const SOURCE: PullSource = { url: "http://me:pass@source.example/a.ts", headers: {}, streamKey: "Right-Key" };

/** The file with the times of its n-th picture 2^30 ticks off, more than three hours (ISO/IEC 13818-1 2.4.3.7). */
function withStray(n: number): Buffer {
  const file = Buffer.from(TS);
  let at = -1;
  for (let i = 0; i <= n; i++) at = file.indexOf("000001e0", at + 1, "hex");
  for (const time of [at + 9, at + 14]) file.writeUInt8(file.readUInt8(time) ^ 2, time);
  return file;
}

/** A database and a source, on a clock that a test advances. */
function rig({ file = TS as Buffer | null, isChunked = false } = {}) {
  const ingest = new IngestRig();
  const told: string[] = [];
  const state = {
    leases: [] as PullLease[],
    source: SOURCE as PullSource | "busy" | null,
    open: 0,
    most: 0,
    calls: 0,
    hangUp: () => {},
    isDatabaseAway: false,
  };
  const gate: PullGate = {
    claim: async () => state.leases,
    source: async () => state.source,
    report: async (_lease, how, reason) => {
      if (state.isDatabaseAway) throw new Error("the database is away");
      told.push(reason === null ? how : `${how}: ${reason}`);
      if (how === "ended") state.leases = [];
    },
  };
  const send = async ({ signal }: OutboundRequest): Promise<OutboundBody> => {
    state.calls++;
    state.most = Math.max(state.most, ++state.open);
    const response = new PassThrough();
    response.once("close", () => state.open--);
    signal.addEventListener("abort", () => response.destroy());
    state.hangUp = () => response.destroy();
    Object.assign(response, {
      headers: isChunked ? { "transfer-encoding": "chunked" } : file ? { "content-length": file.byteLength } : {},
      complete: true,
    });
    if (file) response.end(file);
    else response.write(TS);
    return { ok: true, status: 200, response: response as never };
  };
  const pulls = new Pulls({
    ...{ publishing: ingest.publishing, children: new FakeChildren(), gate },
    outbound: { send, dial: () => "nothing is dialled here", find: () => Promise.reject(new Error("unused")) },
    srt: { connect: () => ({ send() {}, close() {} }) },
  });
  pulls.start();
  const settle = async (ms = 0) => {
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    ingest.clock.advance(ms);
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  return { ingest, told, state, pulls, settle };
}

it("a picture with a time that is hours off is passed on at the time where it belongs", async () => {
  const timesIn = async (file: Buffer) => {
    const { ingest, state, pulls, settle } = rig({ file });
    state.leases = [lease(1)];
    await settle(2_000);
    for (let i = 0; i < 30; i++) await settle(50);
    await pulls.close();
    return ingest.publication.packets.filter(({ kind }) => kind === "video").map(({ dts, pts }) => [dts, pts]);
  };
  const right = await timesIn(TS);
  const repaired = await timesIn(withStray(4));
  expect(repaired).toHaveLength(right.length);
  expect(repaired.map(([dts]) => dts)).toEqual(right.map(([dts]) => dts));
});

const lease = (version: number, isWatched = true): PullLease => ({ streamId: "stream", version, isWatched });

it("a file is published in real time with the stream's key, stopped cleanly at its end, and not asked for again", async () => {
  const { ingest, told, state, pulls, settle } = rig();
  state.leases = [lease(1)];
  await settle(2_000);
  await settle();
  expect(ingest.asked).toEqual([{ protocol: "pull", streamKey: "Right-Key", remoteAddress: "source.example" }]);
  const { packets, tracks, ends } = ingest.publication;
  expect(tracks.map(({ kind }) => kind)).toEqual(["video", "audio"]);
  const early = packets.length;
  expect(early).toBeLessThan(20);
  for (let i = 0; i < 30; i++) await settle(50);
  expect(packets.filter(({ kind }) => kind === "video")).toHaveLength(10);
  expect(packets.filter(({ kind }) => kind === "audio")).toHaveLength(48);
  expect(ends).toMatchObject([{ why: "clean-stop" }]);
  expect(told).toEqual(["connecting", "pulling", "ended: The source has ended."]);
  state.leases = [];
  await settle(10_000);
  expect([state.calls, state.open, pulls.count]).toEqual([1, 0, 0]);
  expect(ingest.log).not.toContain("pass@");
});

it("how a pull goes while the database is away is recorded when it is back", async () => {
  const { told, state, pulls, settle } = rig({ file: null });
  state.isDatabaseAway = true;
  state.leases = [lease(1)];
  for (let second = 0; second < 20; second++) await settle(1_000);
  expect([state.open, told]).toEqual([1, []]);
  state.isDatabaseAway = false;
  for (let second = 0; second < 10; second++) await settle(1_000);
  expect(told).toEqual(["pulling"]);
  await pulls.close();
});

it("a source that ends while the database is away is not asked for again when it is back", async () => {
  const { told, state, pulls, settle } = rig();
  state.isDatabaseAway = true;
  state.leases = [lease(1)];
  await settle(2_000);
  for (let i = 0; i < 30; i++) await settle(50);
  // The row still says that it is to be pulled.
  for (let second = 0; second < 10; second++) await settle(1_000);
  state.isDatabaseAway = false;
  for (let second = 0; second < 10; second++) await settle(1_000);
  expect(told).toEqual(["ended: The source has ended."]);
  expect(state.calls).toBe(1);
  await pulls.close();
});

it("a file whose length is not told ends as others do", async () => {
  const { told, state, settle } = rig({ isChunked: true });
  state.leases = [lease(1)];
  await settle(2_000);
  for (let i = 0; i < 30; i++) await settle(50);
  expect(told).toEqual(["connecting", "pulling", "ended: The source has ended."]);
  expect(state.calls).toBe(1);
});

it("tracks that are not taken are told while it is pulled", async () => {
  const { ingest, told, state, settle } = rig({ file: TWO_LANGUAGES });
  state.leases = [lease(1)];
  await settle(2_000);
  const { publisher } = ingest.publication;
  for (let i = 0; i < 30; i++) await settle(50);
  const sentence = "The source also has 1 further audio track. Weir takes its first video and its first audio alone.";
  expect(told.slice(0, 3)).toEqual(["connecting", "pulling", `pulling: ${sentence}`]);
  expect(publisher.leftOut).toBe(sentence);
});

it("a pull that is started a hundred times is one connection at a time, and none in the end", async () => {
  const { state, pulls, settle } = rig({ file: null });
  for (let version = 1; version <= 100; version++) {
    state.leases = [lease(version)];
    await settle(2_000);
  }
  expect([state.most, state.open <= 1, pulls.count <= 1]).toEqual([1, true, true]);
  expect(state.calls).toBeGreaterThan(10);
  state.leases = [];
  await settle(2_000);
  await settle(2_000);
  expect([state.open, pulls.count]).toEqual([0, 0]);
});

it("a stream pulled only while watched ends cleanly with its viewers; a hundred times leave neither connection nor timer", async () => {
  const { ingest, state, pulls, settle } = rig({ file: null });
  state.leases = [lease(1, false)];
  await settle(2_000);
  const { pending } = ingest.clock;
  expect([state.calls, pulls.count]).toEqual([0, 0]);
  for (let viewer = 1; viewer <= 100; viewer++) {
    state.leases = [lease(1)];
    await settle(1_000);
    await settle();
    expect([state.calls, state.open, pulls.count]).toEqual([viewer, 1, 1]);
    state.leases = [lease(1, false)];
    await settle(1_000);
    await settle();
    expect([state.open, pulls.count]).toEqual([0, 0]);
    expect(ingest.publication.ends.at(-1)).toMatchObject({ why: "clean-stop", reason: "Nobody watches the stream." });
  }
  expect([state.most, ingest.clock.pending]).toEqual([1, pending]);
});

it("a viewer who comes while a source cannot be had, and leaves, leaves nothing", async () => {
  const { ingest, state, pulls, settle } = rig({ file: Buffer.from("<html>") });
  await settle(1_000);
  const { pending } = ingest.clock;
  for (let viewer = 1; viewer <= 10; viewer++) {
    state.leases = [lease(1)];
    await settle(1_000);
    state.leases = [lease(1, false)];
    await settle(1_000);
    await settle();
    expect([state.calls, state.open, pulls.count, ingest.clock.pending]).toEqual([viewer, 0, 0, pending]);
  }
});

it("a source that has no stream is tried again after growing delays, of at most a minute", async () => {
  const { told, state, settle } = rig({ file: Buffer.from("<html>") });
  state.leases = [lease(1)];
  const at: number[] = [];
  for (let second = 0; second < 400; second++) {
    const before = state.calls;
    await settle(1_000);
    if (state.calls > before) at.push(second);
  }
  const delays = at.slice(1).map((second, i) => second - (at[i] ?? 0));
  expect(delays[0]).toBeLessThanOrEqual(2);
  expect(delays.at(-1)).toBeGreaterThan(55);
  expect(delays.at(-1)).toBeLessThan(65);
  expect(told[1]).toContain("neither an HLS playlist");
});

it("a source that ends its connection again and again, after some seconds of media, is asked again soon each time", async () => {
  const { state, settle } = rig({ file: null });
  state.leases = [lease(1)];
  for (let nth = 1; nth <= 10; nth++) {
    for (let second = 0; second < 8; second++) await settle(1_000);
    expect([state.calls, state.open]).toEqual([nth, 1]);
    state.hangUp();
    for (let second = 0; second < 3; second++) await settle(1_000);
    expect(state.calls).toBe(nth + 1);
  }
});

it("a broadcaster who takes the stream over keeps it: the source is not connected to meanwhile", async () => {
  const { ingest, told, state, settle } = rig({ file: null });
  state.leases = [lease(1)];
  await settle(2_000);
  state.source = "busy";
  ingest.publication.publisher.close("Another encoder took this stream over.");
  for (let i = 0; i < 10; i++) await settle(1_000);
  expect([state.calls, state.open]).toEqual([1, 0]);
  expect(told.slice(-2)).toEqual([
    "retrying: Another encoder took this stream over.",
    "waiting: Another publisher is live on this stream.",
  ]);
});

it("at the end of the process no connection stays", async () => {
  const { ingest, state, pulls, settle } = rig({ file: null });
  state.leases = [lease(1)];
  await settle(2_000);
  expect(state.open).toBe(1);
  await pulls.close();
  await settle(100);
  expect([state.open, pulls.count]).toEqual([0, 0]);
  expect(ingest.publication.ends).toHaveLength(1);
});

it("a source that says something else of its tracks with each packet is told of every five seconds", async () => {
  const { publishing, clock } = new IngestRig();
  const told: (string | null)[] = [];
  let pieces = 0;
  const reader = () => ({
    missing: null,
    get leftOut() {
      return `${pieces} tracks`;
    },
    push: () => {},
    end: () => {},
    close: () => {},
  });
  const publisher = new PullPublisher<number>(
    SOURCE,
    { reader },
    {
      ...{ publishing, children: new FakeChildren(), memory: new PacedMemory(), onPublishing: () => {} },
      onLeftOut: (sentence) => void told.push(sentence),
    },
  );
  async function* source() {
    for (; pieces < 100; clock.advance(100)) yield ++pieces;
  }
  await publisher.run(source(), "Right-Key");
  expect(told).toEqual(["1 tracks", "51 tracks"]);
});
