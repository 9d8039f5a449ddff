import { silentAacFrame } from "@weir/formats/codecs";
import { type AudioInitTrack, initSegment, writeAudioFragment } from "@weir/formats/mp4";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
import { expect, test } from "vitest";
import { ManualClock, systemClock } from "../../../platform/clock.ts";
import { Slices } from "../../../platform/slices.ts";
import type { MediaIndex, StoredSegment } from "../../../ports/index.ts";
import { ArchiveMp4 } from "./archive-mp4.ts";
import { OpenMedia } from "./open-media.ts";

const FRAME_TICKS = 1024;
const RATE = 48_000;
const FRAMES = 94;
const AUDIO: AudioInitTrack = {
  kind: "audio",
  codec: "aac",
  config: Uint8Array.of(0x11, 0x90), // AAC LC, 48 kHz, stereo
  sampleRate: RATE,
  channels: 2,
  timescale: RATE,
};

test("an MP4 leaves out the leap that the timeline makes at a restart, in every range of it", async () => {
  const spans = [0, 34 * RATE].map((startTicks) => segmentBytes(startTicks));
  const mp4 = await ArchiveMp4.build(
    recordingOf(spans.map((bytes, i) => ({ startTicks: i * 34 * RATE, bytes }))),
    async () => initSegment(AUDIO),
    new Slices(new ManualClock()),
  );
  const read = async (start: number, end: number): Promise<Buffer> => {
    const pieces: Uint8Array[] = [];
    const found = mp4.read({ start, end }, async function* (_rendition, span, range) {
      yield spans[Number(span)]?.slice(range.start, range.end + 1) ?? new Uint8Array();
    });
    for await (const bytes of found) pieces.push(bytes);
    return Buffer.concat(pieces);
  };
  const whole = await read(0, mp4.size - 1);
  expect(whole.byteLength).toBe(mp4.size);
  for (const start of [0, 100, mp4.size - 20_000, mp4.size - 1000]) {
    expect((await read(start, start + 900)).equals(whole.subarray(start, start + 901))).toBe(true);
  }

  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(whole) });
  const track = await input.getPrimaryAudioTrack();
  if (!track) throw new Error("no audio track");
  const times: number[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) times.push(packet.timestamp);
  expect(times).toHaveLength(2 * FRAMES);
  expect(times[FRAMES]).toBeCloseTo((FRAMES * FRAME_TICKS) / RATE, 4);
});

test("a recording of days, 140,000 segments, has a playlist and an MP4 of which every second can be read", async () => {
  const bytes = segmentBytes(0);
  const count = 140_000;
  const index = recordingOf(Array.from({ length: count }, (_, n) => ({ startTicks: n * FRAMES * FRAME_TICKS, bytes })));
  const slices = new Slices(systemClock);
  const media = await OpenMedia.open(index, async () => initSegment(AUDIO), slices);
  const mp4 = await media.mp4();
  const lastByte: Uint8Array[] = [];
  const range = { start: mp4.size - 1, end: mp4.size - 1 };
  const read = mp4.read(range, async function* () {
    yield bytes;
  });
  for await (const piece of read) lastByte.push(piece);
  expect(Buffer.concat(lastByte)).toEqual(Buffer.from(bytes.subarray(-1)));
  const playlist = await (await media.renditions.get("audio")?.playlist())?.in(null);
  expect(
    Buffer.from(playlist?.bytes ?? [])
      .toString("latin1")
      .match(/#EXTINF/g),
  ).toHaveLength(count);
});

test("a file whose first segment lies late on the timeline begins within a second of it, with room for earlier decoding times", async () => {
  const startTicks = 100 * RATE;
  const index = recordingOf([{ startTicks, bytes: segmentBytes(startTicks) }]);
  const mp4 = await ArchiveMp4.build(index, async () => initSegment(AUDIO), new Slices(systemClock));
  const whole: Uint8Array[] = [];
  const read = mp4.read({ start: 0, end: mp4.size - 1 }, async function* () {
    yield segmentBytes(startTicks);
  });
  for await (const piece of read) whole.push(piece);
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(Buffer.concat(whole)) });
  const track = await input.getPrimaryAudioTrack();
  const first = track && (await new EncodedPacketSink(track).getFirstPacket());
  expect(first?.timestamp).toBe(1);
});

function segmentBytes(startTicks: number): Uint8Array {
  const samples = Array.from({ length: FRAMES }, (_, i) => {
    const time = startTicks + i * FRAME_TICKS;
    return { time, decodeTime: time, duration: FRAME_TICKS, isIndependent: true, data: silentAacFrame(2) };
  });
  const half = FRAMES / 2;
  return Buffer.concat([samples.slice(0, half), samples.slice(half)].flatMap((part) => writeAudioFragment(1, part)));
}

function recordingOf(segments: readonly { startTicks: number; bytes: Uint8Array }[]): MediaIndex {
  const config = Buffer.from([0x11, 0x90]).toString("base64"); // AAC LC, 48 kHz, stereo
  const listed = segments.map(
    ({ startTicks, bytes }, i): StoredSegment => ({
      msn: i + 1,
      epoch: 1,
      startTicks,
      durationTicks: FRAMES * FRAME_TICKS,
      programDateTimeMs: 0,
      discontinuity: i > 0,
      gap: false,
      init: "init-00000001.mp4",
      span: String(i),
      offset: 0,
      length: bytes.byteLength,
    }),
  );
  const track = { kind: "audio", codec: "aac", config, timescale: RATE, codecString: "mp4a.40.2" } as const;
  return {
    id: "s",
    projectId: "p",
    keyPrefix: "v1/p/rec/s/",
    renditions: [{ rendition: "audio", track, segments: listed, spanBytes: new Map() }],
  };
}
