import { MESSAGE, metadataPayload, uint32Payload, writeCommand } from "@weir/formats/rtmp";
import { expect, it } from "vitest";
import { systemClock } from "../../../../platform/clock.ts";
import { FIRST } from "../../../../platform/http/certificate.fixture.ts";
import { ManualClock } from "../../../../platform/manual-clock-rig.ts";
import { Outbound } from "../../../../platform/outbound/outbound.ts";
import type { SourcePacket, Track } from "../../../packet.ts";
import { FakeChildren } from "../../../testing/fake-transcoder.ts";
import { IngestRig, PLAIN_MEMORY } from "../../ingest-rig.ts";
import { aacConfig, aacFrame, avcConfig, avcFrame, avcKeyframe } from "../../rtmp/rtmp-media.fixture.ts";
import { PacedMemory } from "../paced-memory.ts";
import { RTMP } from "./rtmp-kind.ts";
import { type PlayScript, RtmpPlayServer, type RtmpViewer } from "./rtmp-play-server.ts";
import { openRtmp, type RtmpPiece } from "./rtmp-source.ts";

interface Reading {
  readonly clock?: ManualClock;
  readonly own?: readonly number[];
  readonly open?: readonly string[];
  readonly signal?: AbortSignal;
}

function open(url: string, { clock, own = [], open: networks = ["127.0.0.1"], signal }: Reading = {}) {
  const outbound = new Outbound({
    ...{ clock: clock ?? systemClock, allowPrivate: false, pullNetworks: networks, trusted: FIRST.cert },
    own: () => ({ ports: own, publicUrl: "https://weir.example" }),
    resolve: async () => ["127.0.0.1"],
  });
  const srt = { connect: () => ({ send() {}, close() {} }) };
  const opening = { outbound, srt, clock: clock ?? systemClock, memory: PLAIN_MEMORY, ahead: new PacedMemory() };
  return openRtmp({ url }, { ...opening, signal: signal ?? new AbortController().signal });
}

async function read(url: string, reading?: Reading): Promise<RtmpPiece[]> {
  const pieces: RtmpPiece[] = [];
  for await (const piece of open(url, reading)) pieces.push(piece);
  return pieces;
}

const urlOf = ({ port }: RtmpPlayServer) => `rtmp://127.0.0.1:${port}/live/camera?key=a1`;
const complete = (viewer: RtmpViewer) =>
  viewer.message(MESSAGE.dataAmf0, 9, writeCommand("onPlayStatus", 0, { code: "NetStream.Play.Complete" }));
/** Of FLV: type, size, time, stream, payload, and the size of all again. */
const tag = (type: number, time: number, payload: Uint8Array) =>
  Uint8Array.of(type, 0, 0, payload.byteLength, 0, 0, time, 0, 0, 0, 0, ...payload, 0, 0, 0, payload.byteLength + 11);

/** A recorded stream: tracks, a keyframe, and the rest in one aggregate message. */
const recorded: PlayScript = ({ name }, viewer) => {
  if (name !== "play") return false;
  viewer.status("NetStream.Play.Reset");
  viewer.status("NetStream.Play.Start");
  viewer.message(MESSAGE.video, 0, avcConfig());
  viewer.message(MESSAGE.audio, 0, aacConfig());
  viewer.message(MESSAGE.video, 1000, avcKeyframe());
  const parts = [tag(8, 50, aacFrame()), tag(9, 83, avcFrame())];
  viewer.message(MESSAGE.aggregate, 1000, Buffer.concat(parts));
  complete(viewer);
  return true;
};

it("a stream is asked for as players do, and read to its end", async () => {
  await using server = await RtmpPlayServer.start(recorded);
  const pieces = await read(urlOf(server));
  const [connect, , play] = server.asked;
  expect(connect?.object).toMatchObject({ app: "live", tcUrl: `rtmp://127.0.0.1:${server.port}/live` });
  expect([play?.name, play?.args]).toEqual(["play", ["camera?key=a1", -2000]]);
  expect(pieces.map(({ kind, timestamp }) => [kind, timestamp])).toEqual([
    ...[
      ["video", 0],
      ["audio", 0],
      ["video", 1000],
    ],
    ...[
      ["audio", 1000],
      ["video", 1033],
    ],
  ]);
  await expect.poll(() => [...server.sockets].every(({ destroyed }) => destroyed)).toBe(true);
});

/** Reads pieces; returns the tracks and packets. */
function converted(pieces: readonly RtmpPiece[]) {
  const { clock, publishing } = new IngestRig();
  const tracks: Track["codec"][] = [];
  const packets: unknown[] = [];
  const sink = {
    track: ({ codec }: Track) => void tracks.push(codec),
    packet: ({ kind, dts, isIndependent }: SourcePacket) => void packets.push([kind, dts / 90, isIndependent]),
  };
  const settings = { clock, log: publishing.log, children: new FakeChildren(), memory: PLAIN_MEMORY };
  const reader = RTMP.reader(sink, settings);
  expect(reader.missing).toContain("no configuration");
  for (const piece of pieces) reader.push(piece);
  expect(reader.missing).toBeNull();
  return { tracks, packets };
}

it("its messages become tracks and packets", async () => {
  await using server = await RtmpPlayServer.start(recorded);
  const { tracks, packets } = converted(await read(urlOf(server)));
  expect(tracks).toEqual(["avc", "aac"]);
  expect(packets).toEqual([
    ["video", 1000, true],
    ["audio", 1000, true],
    ["video", 1033, false],
  ]);
});

it("sound is left out until the first picture of an announced video, for at most 10 s", () => {
  const piece = (kind: RtmpPiece["kind"], timestamp: number, payload: Uint8Array) => ({ kind, timestamp, payload });
  const metadata = piece("data", 0, metadataPayload({ width: 640, videocodecid: 7 }));
  const sound = [piece("audio", 0, aacConfig()), piece("audio", 100, aacFrame()), piece("audio", 900, aacFrame())];
  const video = [piece("video", 1000, avcConfig()), piece("video", 1000, avcKeyframe())];
  const late = piece("audio", 10_100, aacFrame());
  const times = (...pieces: RtmpPiece[]) => converted(pieces).packets.map((packet) => (packet as unknown[])[1]);
  expect(times(metadata, ...sound, ...video, late)).toEqual([1000, 10_100]);
  expect(times(metadata, ...sound, late)).toEqual([10_100]);
  expect(times(...sound, late)).toEqual([100, 900, 10_100]);
});

it("rtmps:// is RTMP over TLS, with a certificate that is checked", async () => {
  await using server = await RtmpPlayServer.start(recorded, FIRST);
  expect(await read(`rtmps://localhost:${server.port}/live/a`)).toHaveLength(5);
  await expect(read(`rtmps://other.example:${server.port}/live/a`)).rejects.toThrow("certificate is for another name");
});

it.each<[string, PlayScript, string]>([
  [
    "a stream that is not there",
    says("play", (viewer) => viewer.status("NetStream.Play.StreamNotFound")),
    "no such stream",
  ],
  [
    "one that is not there, as an error",
    says("play", (viewer) => viewer.status("NetStream.Play.StreamNotFound", "error")),
    "no such stream",
  ],
  ["a refusal", says("play", (viewer) => viewer.status("NetStream.Play.Failed", "error")), "refused to send"],
  [
    "a redirect",
    says("connect", (viewer) => viewer.command("_error", 1, null, { ex: { redirect: "rtmp://10.0.0.1/a" } })),
    "leads to another address",
  ],
  ["an end of the broadcast", says("play", (viewer) => viewer.status("NetStream.Play.UnpublishNotify")), "has ended"],
  ["something else than RTMP", says("connect", ({ socket }) => void socket.write("\xff".repeat(4_000))), "RTMP"],
  [
    "a chunk size beyond the protocol's",
    says("connect", (viewer) => viewer.message(MESSAGE.setChunkSize, 0, uint32Payload(2 ** 31))),
    "does not speak RTMP",
  ],
  [
    "a message of many megabytes before the media",
    says("connect", (viewer) => viewer.message(MESSAGE.video, 0, new Uint8Array(100_000))),
    "does not speak RTMP",
  ],
  ["a connection that ends", says("play", ({ socket }) => void socket.end()), "closed the connection"],
])("%s is a sentence without the server's own words", async (_what, script, sentence) => {
  await using server = await RtmpPlayServer.start(script);
  const said = await read(urlOf(server)).catch(({ message }) => message);
  expect(said).toContain(sentence);
  expect(said).not.toContain("own words");
});

function says(command: string, say: (viewer: RtmpViewer) => void): PlayScript {
  return ({ name }, viewer) => {
    if (name === command) say(viewer);
    return name === command;
  };
}

it("a server that never lets play, and one that sends one byte at a time, are left after 15 s", async () => {
  const clock = new ManualClock();
  await using silent = await RtmpPlayServer.start(says("play", () => {}));
  const first = read(urlOf(silent), { clock });
  await expect.poll(() => silent.asked.length).toBe(3);
  clock.advance(15_001);
  await expect(first).rejects.toThrow("within 15 s");
  await using slow = await RtmpPlayServer.start(
    says("play", (viewer) => {
      viewer.status("NetStream.Play.Start");
      viewer.socket.write(Uint8Array.of(4, 0, 0, 0, 0, 1, 0, 9, 1, 0, 0, 0, 1));
    }),
  );
  const iterator = open(urlOf(slow), { clock });
  const second = iterator.next();
  await expect.poll(() => slow.asked.length).toBe(3);
  await expect.poll(() => [...slow.sockets].map(({ writableLength }) => writableLength)).toEqual([0]);
  const over = second.catch(({ message }) => message);
  for (let i = 0; i < 20; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(2_000);
  }
  expect(await over).toContain("brought nothing for 15 s");
});

it("a sender that is faster than its reader waits, and is let go at the end", async () => {
  await using server = await RtmpPlayServer.start(
    says("play", (viewer) => {
      viewer.status("NetStream.Play.Start");
      for (let i = 0; i < 400; i++) viewer.message(MESSAGE.video, i, new Uint8Array(100_000));
    }),
  );
  const media = open(urlOf(server));
  expect((await media.next()).value).toMatchObject({ kind: "video", timestamp: 0 });
  const [socket] = server.sockets;
  // Until nothing more is taken.
  let taken = -1;
  const isTaken = () => {
    const before = taken;
    taken = (socket?.bytesWritten ?? 0) - (socket?.writableLength ?? 0);
    return taken === before;
  };
  await expect.poll(isTaken).toBe(true);
  expect(socket?.writableLength).toBeGreaterThan(10_000_000);
  for (let i = 1; i < 400; i++) expect((await media.next()).value).toMatchObject({ timestamp: i });
  await media.return();
  await expect.poll(() => socket?.destroyed).toBe(true);
});

it("this server is not pulled from, nor a closed network; and all that says nothing is one sentence", async () => {
  await using server = await RtmpPlayServer.start(recorded);
  const url = urlOf(server);
  await expect(read(url, { own: [server.port] })).rejects.toThrow("leads back to this server");
  await expect(read(url, { open: [] })).rejects.toThrow("WEIR_PULL_NETWORKS");
  await expect(read("rtmp://127.0.0.1:9999/live/a")).rejects.toThrow("cannot be reached");
  const signal = AbortSignal.abort(new Error("no longer wanted"));
  await expect(read(url, { signal })).rejects.toThrow("no longer wanted");
});
