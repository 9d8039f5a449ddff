import { Readable } from "node:stream";
import { avcParameterSets, isIdrAccessUnit, silentAacFrame } from "@weir/formats/codecs";
import {
  type AudioInitTrack,
  initSegment,
  type VideoInitTrack,
  writeAudioFragment,
  writeVideoFragment,
} from "@weir/formats/mp4";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, type InputTrack } from "mediabunny";
import { expect, test } from "vitest";
import { systemClock } from "../../platform/clock.ts";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { Slices } from "../../platform/slices.ts";
import type { MediaIndex, StoredSegment } from "../../ports/index.ts";
import { ArchiveMp4 } from "./archive-mp4.ts";
import { archiveMultivariant } from "./archive-playlists.ts";
import { OpenMedia } from "./open-media.ts";
import { StoredMedia } from "./stored-media.ts";

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

test("an MP4 omits the jump of the timeline at a restart, in every range", async () => {
  const spans = [0, 34 * RATE].map((startTicks) => segmentBytes(startTicks));
  const index = recordingOf(spans.map((bytes, i) => ({ startTicks: i * 34 * RATE, bytes })));
  const media = mediaOf(index, (_rendition, span) => spans[Number(span)]);
  const mp4 = await ArchiveMp4.build(media, new Slices(new ManualClock()));
  const read = async (start: number, end: number): Promise<Buffer> => {
    const pieces: Uint8Array[] = [];
    const found = mp4.read({ start, end });
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

test("the head of an MP4 that is kept keeps no other memory", async () => {
  const bytes = segmentBytes(0);
  const index = recordingOf([{ startTicks: 0, bytes }]);
  const mp4 = await ArchiveMp4.build(
    mediaOf(index, () => bytes),
    new Slices(new ManualClock()),
  );
  const { value: head } = await mp4.read().next();
  expect(head?.buffer.byteLength).toBe(head?.byteLength);
  expect(head?.byteLength).toBeLessThan(2_000);
});

test("a recording of 140,000 segments has a playlist and an MP4 that is readable at any second", async () => {
  const bytes = soundBytes(0, FRAMES);
  const count = 140_000;
  const index = recordingOf(Array.from({ length: count }, (_, n) => ({ startTicks: n * FRAMES * FRAME_TICKS, bytes })));
  const slices = new Slices(systemClock);
  const media = await OpenMedia.open(
    mediaOf(index, () => bytes),
    slices,
  );
  const mp4 = await media.mp4("source");
  if (!mp4) throw new Error("no MP4");
  const lastByte: Uint8Array[] = [];
  const range = { start: mp4.size - 1, end: mp4.size - 1 };
  const read = mp4.read(range);
  for await (const piece of read) lastByte.push(piece);
  expect(Buffer.concat(lastByte)).toEqual(Buffer.from(bytes.subarray(-1)));
  const playlist = await (await media.renditions.get("audio")?.playlist())?.in(null);
  expect(
    Buffer.from(playlist?.bytes ?? [])
      .toString("latin1")
      .match(/#EXTINF/g),
  ).toHaveLength(count);
});

test.each([
  ["every segment begins with an IDR", [true, true], true],
  ["one does not", [true, false], false],
  ["an earlier version recorded one", [true, undefined], false],
] as const)(
  "a playlist of which %s: independent segments are promised only where they are",
  async (_situation, flags, isPromised) => {
    const index = recordingOf(flags.map((_, n) => ({ startTicks: n * FRAMES * FRAME_TICKS, bytes: NONE })));
    const renditions = index.renditions.map((rendition) => ({
      ...rendition,
      segments: rendition.segments.map((segment, n) => {
        const isIndependent = flags[n];
        return isIndependent === undefined ? segment : { ...segment, isIndependent };
      }),
    }));
    const slices = new Slices(new ManualClock());
    const media = await OpenMedia.open(mediaOf({ ...index, renditions }), slices);
    const playlist = await (await media.renditions.get("audio")?.playlist())?.in(null);
    const text = Buffer.from(playlist?.bytes ?? []).toString("latin1");
    expect(text.includes("#EXT-X-INDEPENDENT-SEGMENTS")).toBe(isPromised);
  },
);

test.each([
  [30, ",RESOLUTION=640x360,FRAME-RATE=30.000,VIDEO-RANGE=SDR\n"],
  [undefined, ",RESOLUTION=640x360,VIDEO-RANGE=SDR\n"],
])(
  "a recording whose encoder declares %s frames a second: its playlist says no more than that",
  async (frameRate, attributes) => {
    const picture = {
      kind: "video",
      codec: "avc",
      config: "",
      codecString: "avc1.42c016",
      width: 640,
      height: 360,
    } as const;
    const track = { ...picture, timescale: RATE, ...(frameRate && { frameRate }) };
    const index = recordingOf([{ startTicks: 0, bytes: NONE }]);
    const renditions = index.renditions.map((rendition) => ({ ...rendition, rendition: "source", track }));
    const media = await OpenMedia.open(mediaOf({ ...index, renditions }), new Slices(new ManualClock()));
    expect(archiveMultivariant(media.renditions.values(), (rendition) => rendition)).toContain(attributes);
  },
);

test("a file whose first segment is late on the timeline starts within a second of it, with decode times not negative", async () => {
  const startTicks = 100 * RATE;
  const index = recordingOf([{ startTicks, bytes: segmentBytes(startTicks) }]);
  const mp4 = await ArchiveMp4.build(
    mediaOf(index, () => segmentBytes(startTicks)),
    new Slices(systemClock),
  );
  const whole: Uint8Array[] = [];
  const read = mp4.read();
  for await (const piece of read) whole.push(piece);
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(Buffer.concat(whole)) });
  const track = await input.getPrimaryAudioTrack();
  const first = track && (await new EncodedPacketSink(track).getFirstPacket());
  expect(first?.timestamp).toBe(1);
});

test("an MP4 whose picture size changed and changed back has all pictures, each segment with its own parameter sets", async () => {
  const spans = [0, 1, 2].map((n) => pictureBytes(n * PICTURE_TICKS * 2));
  const inits = ["small", "large", "small"];
  const media = mediaOf(
    {
      ...recordingOf([]),
      renditions: [
        {
          rendition: "source",
          track: {
            kind: "video",
            codec: "avc",
            config: Buffer.from(SMALL.config).toString("base64"),
            timescale: 90_000,
            codecString: "",
            width: 640,
            height: 360,
          },
          spanBytes: new Map(),
          segments: spans.map((bytes, n) => ({
            ...segmentOf(n, n * PICTURE_TICKS * 2, bytes),
            durationTicks: PICTURE_TICKS * 2,
            init: inits[n] ?? "",
          })),
        },
      ],
    },
    (_rendition, span) => spans[Number(span)],
    (_rendition, init) => (init === "small" ? SMALL : LARGE),
  );
  const mp4 = await ArchiveMp4.build(media, new Slices(new ManualClock()));
  const read = async (start: number, end: number): Promise<Buffer> => {
    const pieces: Uint8Array[] = [];
    const found = mp4.read({ start, end });
    for await (const bytes of found) pieces.push(bytes);
    return Buffer.concat(pieces);
  };
  const whole = await read(0, mp4.size - 1);
  expect(whole.byteLength).toBe(mp4.size);
  for (let start = 0; start < mp4.size; start += 7)
    expect((await read(start, start + 99)).equals(whole.subarray(start, start + 100))).toBe(true);

  expect(whole.includes("avc3")).toBe(true);
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(whole) });
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new Error("no video track");
  const samples: Uint8Array[] = [];
  for await (const { data } of new EncodedPacketSink(track).packets()) samples.push(data);
  expect(samples.every((data) => isIdrAccessUnit("avc", data))).toBe(true);
  const sets = [SMALL, LARGE, SMALL].map(({ config }) => {
    const { sps, pps } = avcParameterSets(config);
    return Buffer.concat([...sps, ...pps].flatMap((unit) => [Uint8Array.of(0, 0, 0, unit.length), unit]));
  });
  const wanted = sets.flatMap((before) => [Buffer.concat([before, PICTURE]), PICTURE]);
  expect(samples.map((data) => Buffer.from(data).toString("hex"))).toEqual(wanted.map((data) => data.toString("hex")));
});

test("video and audio of a segment are one fragment, whose audio starts slightly before the video", async () => {
  const segmentSeconds = 1;
  const count = 3;
  const firstFrame = (n: number) => Math.ceil((n * segmentSeconds * RATE) / FRAME_TICKS);
  const sounds = Array.from({ length: count }, (_, n) => soundBytes(firstFrame(n), firstFrame(n + 1)));
  const shown = Array.from({ length: count }, (_, n) => Buffer.concat(pictureFragment(n * 90_000, 30)));
  const video = { ...PICTURE_TRACK, config: Buffer.from(SMALL.config).toString("base64") };
  const sound = recordingOf([]).renditions[0]?.track;
  if (!sound) throw new Error("no track of sound");
  const segmentAt = (n: number, startTicks: number, durationTicks: number, bytes: Uint8Array): StoredSegment => ({
    ...segmentOf(n, startTicks, bytes),
    durationTicks,
  });
  const index: MediaIndex = {
    ...recordingOf([]),
    renditions: [
      {
        rendition: "source",
        track: video,
        spanBytes: new Map(),
        segments: shown.map((bytes, n) => segmentAt(n, n * 90_000, 90_000, bytes)),
      },
      {
        rendition: "audio",
        track: sound,
        spanBytes: new Map(),
        segments: sounds.map((bytes, n) => {
          const [from, to] = [firstFrame(n) * FRAME_TICKS, firstFrame(n + 1) * FRAME_TICKS];
          return segmentAt(n, from, to - from, bytes);
        }),
      },
    ],
  };
  const media = mediaOf(
    index,
    (rendition, span) => (rendition === "source" ? shown : sounds)[Number(span)],
    (rendition) => (rendition === "source" ? SMALL : AUDIO),
  );
  const mp4 = await ArchiveMp4.build(media, new Slices(new ManualClock()));
  const read = async (start: number, end: number): Promise<Buffer> => {
    const pieces: Uint8Array[] = [];
    const found = mp4.read({ start, end });
    for await (const bytes of found) pieces.push(bytes);
    return Buffer.concat(pieces);
  };
  const whole = await read(0, mp4.size - 1);
  expect(whole.byteLength).toBe(mp4.size);
  for (let start = 0; start < mp4.size; start += 101)
    expect((await read(start, start + 99)).equals(whole.subarray(start, start + 100))).toBe(true);

  expect(whole.toString("latin1").split("moof")).toHaveLength(count + 1);
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(whole) });
  const packets = async (track: InputTrack | null): Promise<number> => {
    if (!track) throw new Error("a track is missing");
    let found = 0;
    for await (const _ of new EncodedPacketSink(track).packets()) found++;
    return found;
  };
  expect(await packets(await input.getPrimaryVideoTrack())).toBe(30 * count);
  expect(await packets(await input.getPrimaryAudioTrack())).toBe(firstFrame(count));
  // libavformat looks for sound at the time at which a picture is decoded; where it finds none before that, it takes the last it has read, from anywhere.
  const ahead = 0.1 * RATE;
  const soundTimes = [...whole.toString("latin1").matchAll(/tfdt/g)]
    .filter((_, nth) => nth % 2 === 1)
    .map(({ index: at }) => Number(whole.readBigUInt64BE(at + 8)));
  expect(soundTimes).toHaveLength(count);
  for (const n of [1, 2]) {
    expect(soundTimes[n]).toBeGreaterThan(n * segmentSeconds * RATE - ahead - FRAME_TICKS);
    expect(soundTimes[n]).toBeLessThanOrEqual(n * segmentSeconds * RATE - ahead);
  }
  const sidx = whole.lastIndexOf("sidx");
  expect(whole.readUInt32BE(sidx + 36 + 4)).toBe(segmentSeconds * RATE - ahead);
});

const NONE = new Uint8Array();
const PICTURE_TRACK = {
  kind: "video",
  codec: "avc",
  codecString: "",
  timescale: 90_000,
  width: 640,
  height: 360,
} as const;
const PICTURE_TICKS = 3000;
/** Recognized as an IDR slice by its header. */
const PICTURE = Buffer.from([0, 0, 0, 3, 0x65, 1, 2]);
const SMALL = pictures("0142c016ffe100186742c016da0280bfe584000003000400000300783c58ba8001000468ce0fc8", 640, 360);
const LARGE = pictures(
  "01640028ffe1001767640028acb403c0113f2c2000007d20001d4c01e3065401000468ef0fcbfdf8f800",
  1920,
  1080,
);

function pictures(config: string, width: number, height: number): VideoInitTrack {
  return { kind: "video", codec: "avc", config: Buffer.from(config, "hex"), width, height, timescale: 90_000 };
}

function pictureBytes(startTicks: number): Uint8Array {
  const sampleAt = (time: number) => ({
    time,
    decodeTime: time,
    duration: PICTURE_TICKS,
    isIndependent: true,
    data: PICTURE,
  });
  const parts = [startTicks, startTicks + PICTURE_TICKS].flatMap((time, n) => writeVideoFragment(n, [sampleAt(time)]));
  return Buffer.concat(parts);
}

/** One fragment with `count` pictures. */
function pictureFragment(startTicks: number, count: number): Uint8Array[] {
  const samples = Array.from({ length: count }, (_, n) => {
    const time = startTicks + n * PICTURE_TICKS;
    return { time, decodeTime: time, duration: PICTURE_TICKS, isIndependent: n === 0, data: PICTURE };
  });
  return writeVideoFragment(1, samples);
}

/** One fragment with a range of audio frames. */
function soundBytes(from: number, to: number): Uint8Array {
  const samples = Array.from({ length: to - from }, (_, n) => {
    const time = (from + n) * FRAME_TICKS;
    return { time, decodeTime: time, duration: FRAME_TICKS, isIndependent: true, data: silentAacFrame(2) };
  });
  return Buffer.concat(writeAudioFragment(1, samples));
}

function segmentBytes(startTicks: number): Uint8Array {
  const samples = Array.from({ length: FRAMES }, (_, i) => {
    const time = startTicks + i * FRAME_TICKS;
    return { time, decodeTime: time, duration: FRAME_TICKS, isIndependent: true, data: silentAacFrame(2) };
  });
  const half = FRAMES / 2;
  return Buffer.concat([samples.slice(0, half), samples.slice(half)].flatMap((part) => writeAudioFragment(1, part)));
}

/** Stored media whose files are made up: the names of spans are numbers. */
function mediaOf(
  index: MediaIndex,
  spanOf: (rendition: string, span: string) => Uint8Array | undefined = () => NONE,
  initOf: (rendition: string, init: string) => AudioInitTrack | VideoInitTrack = () => AUDIO,
): StoredMedia {
  return new StoredMedia(index, {
    async read(key, range) {
      const [rendition = "", file = ""] = key.slice(index.keyPrefix.length).split("/");
      const isSpan = /^\d+$/.test(file);
      const bytes = (isSpan ? spanOf(rendition, file) : initSegment(initOf(rendition, file))) ?? NONE;
      return Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes]);
    },
  });
}

function recordingOf(segments: readonly { startTicks: number; bytes: Uint8Array }[]): MediaIndex {
  const config = Buffer.from([0x11, 0x90]).toString("base64"); // AAC LC, 48 kHz, stereo
  const listed = segments.map(({ startTicks, bytes }, i) => segmentOf(i, startTicks, bytes));
  const track = { kind: "audio", codec: "aac", config, timescale: RATE, codecString: "mp4a.40.2" } as const;
  return {
    id: "s",
    projectId: "p",
    keyPrefix: "v1/p/rec/s/",
    renditions: [{ rendition: "audio", track, segments: listed, spanBytes: new Map() }],
  };
}

function segmentOf(n: number, startTicks: number, bytes: Uint8Array): StoredSegment {
  return {
    msn: n + 1,
    epoch: 1,
    startTicks,
    durationTicks: FRAMES * FRAME_TICKS,
    programDateTimeMs: 0,
    discontinuity: n > 0,
    gap: false,
    init: "init-00000001.mp4",
    span: String(n),
    offset: 0,
    length: bytes.byteLength,
  };
}
