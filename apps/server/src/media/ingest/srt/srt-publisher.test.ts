import { readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import type { SrtGuest, SrtGuestHandler } from "../../srt/index.ts";
import { FakeChildren } from "../../testing/fake-transcoder.ts";
import { IngestRig } from "../ingest-rig.ts";
import { SrtIngest } from "./srt-ingest.ts";

const CORPUS = new URL("../../../../../../packages/formats/src/ts/corpus/", import.meta.url);
const corpus = (name: string) => new Uint8Array(readFileSync(new URL(`${name}.m2t`, CORPUS)));
const TS = corpus("avc-adts");
const MESSAGE = 7 * 188;

let rig: IngestRig;
let ingest: SrtIngest;
let children: FakeChildren;

beforeEach(() => {
  rig = new IngestRig();
  children = new FakeChildren();
  ingest = new SrtIngest({ publishing: rig.publishing, children });
});

/** A caller on the other side of the child. */
class Caller implements SrtGuest {
  readonly address: string;
  readonly streamId: string;
  readonly isKeyShared: boolean;
  readonly handler: SrtGuestHandler;
  isReceived = false;
  isClosed = false;

  constructor({ streamId = "publish:Right-Key", address = "192.0.2.1", isKeyShared = true } = {}) {
    this.streamId = streamId;
    this.address = address;
    this.isKeyShared = isKeyShared;
    this.handler = ingest.guest(this);
  }

  receive(): void {
    this.isReceived = true;
  }

  close(): void {
    this.isClosed = true;
  }

  /** Its first message, and once it is received, the rest. */
  async send(bytes: Uint8Array = TS): Promise<void> {
    this.handler.media(bytes.subarray(0, MESSAGE));
    await new Promise((resolve) => setImmediate(resolve));
    if (this.isReceived) this.handler.media(bytes.subarray(MESSAGE));
  }
}

const REPORT = { id: 1, roundTripMs: 60, latencyMs: 120, received: 100, lost: 0, retransmitted: 0, dropped: 0 };

test("a caller with a valid key publishes its pictures and its sound, from the first message on", async () => {
  const caller = new Caller();
  await caller.send();
  expect(rig.asked).toEqual([{ protocol: "srt", streamKey: "Right-Key", remoteAddress: "192.0.2.1" }]);
  const { tracks, packets } = rig.publication;
  expect(tracks).toMatchObject([
    { id: 0, kind: "video", codec: "avc", width: 64, height: 48, frameRate: 10 },
    { id: 1, kind: "audio", codec: "aac", channels: 1, language: "deu" },
  ]);
  expect(packets[0]).toMatchObject({ trackId: 0, dts: 126_000, pts: 144_000, isIndependent: true });
  caller.handler.gone("closed", true);
  // The last picture is whole only when nothing follows.
  expect(packets.filter(({ kind }) => kind === "video")).toHaveLength(10);
  expect(packets.filter(({ kind }) => kind === "audio")).toHaveLength(48);
  expect(rig.publication.ends).toEqual([{ why: "clean-stop", reason: "the publisher stopped" }]);
  expect(ingest.connectionCount).toBe(0);
});

test("a caller that is gone without closing is a lost source", async () => {
  const caller = new Caller();
  await caller.send();
  caller.handler.gone("the publisher stopped responding", false);
  expect(rig.publication.ends).toEqual([{ why: "source-lost", reason: "the publisher stopped responding" }]);
});

test("a second connection of an encoder replaces nothing until it brings media", async () => {
  const first = new Caller();
  await first.send();
  const second = new Caller();
  rig.clock.advance(3_000);
  expect([rig.asked.length, first.isClosed, second.isClosed]).toEqual([1, false, false]);
  await second.send();
  expect(rig.asked.length).toBe(2);
});

test("a caller that brings no media is closed after 10 s, and its slot is free", () => {
  const caller = new Caller();
  rig.clock.advance(9_999);
  expect(caller.isClosed).toBe(false);
  rig.clock.advance(1);
  expect([caller.isClosed, ingest.connectionCount, rig.asked]).toEqual([true, 0, []]);
});

test.each([
  [{ streamId: "" }, "The SRT stream id is empty. Put the stream key into it: srt://host:port?streamid=KEY"],
  [
    { streamId: "read:Right-Key" },
    "This server does not send streams over SRT. Use HLS to watch, or m=publish to publish.",
  ],
  [
    { isKeyShared: false },
    "The SRT passphrase is missing or wrong, or this server has none. Use the address from the stream's page as it is.",
  ],
])("%j is refused at once, with a sentence for the dashboard", (options, sentence) => {
  const caller = new Caller(options);
  expect([caller.isClosed, rig.asked.length, ingest.connectionCount]).toEqual([true, 0, 0]);
  expect(rig.refused).toEqual([{ protocol: "srt", remoteAddress: "192.0.2.1", streamId: null, sentence }]);
});

test.each(["publish:Wrong-Key", "live/../Right-Key", "$(reboot)", "a;b", "Right-Key'--", "x".repeat(512)])(
  "the key of %j is refused like any wrong one, and nothing of it is logged",
  async (streamId) => {
    const caller = new Caller({ streamId });
    await caller.send();
    expect([caller.isClosed, caller.isReceived, rig.publications.length]).toEqual([true, false, 0]);
    expect(rig.refused[0]?.sentence).toContain("This stream key is not known");
    expect(rig.log).not.toContain(streamId);
  },
);

test("a source that arrives faster than real time is refused with the remedy", async () => {
  const caller = new Caller();
  await caller.send();
  rig.publication.waitMs = 500;
  caller.handler.media(TS);
  expect(caller.isClosed).toBe(true);
  expect(rig.refused[0]?.sentence).toContain("with ffmpeg: -re");
});

function withoutTables(bytes: Uint8Array): Uint8Array {
  const packets = Array.from({ length: bytes.length / 188 }, (_, n) => bytes.subarray(n * 188, (n + 1) * 188));
  return Buffer.concat(packets.filter(([, high = 0]) => (high & 0x1f) === 1));
}

test.each([
  [new Uint8Array(60_000).fill(0x55) as Uint8Array, "What arrived is not an MPEG transport stream."],
  [withoutTables(TS), "The transport stream has no table (PAT and PMT)"],
])("what cannot be played is refused after 10 s, by name (%#)", async (bytes: Uint8Array, sentence: string) => {
  const caller = new Caller();
  await caller.send(bytes);
  expect(caller.isClosed).toBe(false);
  rig.clock.advance(10_000);
  expect(caller.isClosed).toBe(true);
  expect(rig.refused[0]?.sentence).toContain(sentence);
});

test("a codec that the server does not take is refused by name", async () => {
  const caller = new Caller();
  await caller.send(corpus("mpeg2"));
  expect(rig.refused[0]?.sentence).toBe("This server does not support MPEG-2 video. Set the encoder to H.264 or HEVC.");
});

test.each(["avc-opus", "mp2", "ac3", "eac3"])(
  "the sound of %s is converted in a child, which ends with it",
  async (name) => {
    const caller = new Caller();
    await caller.send(corpus(name));
    expect(children.taken.length).toBe(1);
    caller.handler.gone("closed", true);
    expect(children.taken.every(({ isKilled }) => isKilled)).toBe(true);
  },
);

test.each(["avc-opus", "mp2", "ac3", "eac3"])(
  "no child stays for the sound of %s, whose caller is closed in the middle of what it sent",
  async (name) => {
    const bytes = corpus(name);
    const caller = new Caller();
    caller.handler.media(bytes.subarray(0, 188));
    await expect.poll(() => caller.isReceived).toBe(true);
    // Its first track or packet is one too many.
    rig.publication.waitMs = 500;
    caller.handler.media(bytes.subarray(188));
    expect(caller.isClosed).toBe(true);
    expect(children.taken.filter(({ isKilled }) => !isKilled)).toEqual([]);
  },
);

test("a publisher that is alive and sends nothing is let go after 30 s", async () => {
  const caller = new Caller();
  await caller.send();
  for (let second = 0; second < 45; second++) {
    rig.clock.advance(1_000);
    caller.handler.link({ ...REPORT, received: 0 });
  }
  expect(caller.isClosed).toBe(true);
  expect(rig.publication.ends).toEqual([{ why: "source-lost", reason: "nothing received for 30 s" }]);
});

test("loss and lateness of the link are summed up between two questions, and its worst state lasts for ten seconds", async () => {
  const caller = new Caller();
  await caller.send();
  const { publisher } = rig.publication;
  expect([publisher.takeLink?.(), publisher.linkState]).toEqual([null, "well"]);
  caller.handler.link({ ...REPORT, received: 100, lost: 30, retransmitted: 20, dropped: 10 });
  expect(publisher.linkState).toBe("late");
  caller.handler.link({ ...REPORT, received: 120, lost: 20, retransmitted: 20 });
  expect(publisher.takeLink?.()).toEqual({
    ...{ roundTripMs: 60, latencyMs: 120, retransmits: 40, latePackets: 10 },
    fractionLost: 50 / (80 + 30 + 100 + 20),
  });
  const states = Array.from({ length: 10 }, () => {
    caller.handler.link(REPORT);
    return publisher.linkState;
  });
  expect(states).toEqual([...new Array(8).fill("late"), "well", "well"]);
  expect(publisher.takeLink?.()).toMatchObject({ fractionLost: 0, latePackets: 0 });
  caller.handler.link({ ...REPORT, lost: 20 });
  expect(publisher.linkState).toBe("lossy");
});
