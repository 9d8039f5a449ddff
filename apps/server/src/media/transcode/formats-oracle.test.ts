/** The output of `@weir/formats`, read by two others: FFmpeg and mediabunny. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  annexBToLengthPrefixed,
  describeAac,
  describeAv1,
  describeAvc,
  describeHevc,
  isIdrAccessUnit,
  OPUS_SAMPLE_RATE,
  opusPacketSamples,
  SILENT_OPUS_PACKET,
  silentAacFrame,
} from "@weir/formats/codecs";
import {
  AUDIO_TRACK_ID,
  type AudioInitTrack,
  type FragmentSample,
  initSegment,
  jointInit,
  segmentIndexes,
  VIDEO_TRACK_ID,
  type VideoInitTrack,
  writeAudioFragment,
  writeVideoFragment,
} from "@weir/formats/mp4";
import { TsMuxer } from "@weir/formats/ts";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
import { AVSEEK_FLAG_BACKWARD } from "node-av/constants";
import { Codec, CodecContext, CodecParameters, FormatContext, Frame, Packet } from "node-av/lib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GeneratedTrack, openPicture, openTone } from "./generated-track.ts";

let folder: string;
beforeAll(async () => {
  process.env.SVT_LOG = "0"; // the AV1 encoder prints its settings otherwise
  folder = await mkdtemp(join(tmpdir(), "weir-formats-"));
});
afterAll(() => rm(folder, { recursive: true }));

const FRAME_RATE = 30;
const TICKS_PER_FRAME = 90_000 / FRAME_RATE;

test.each([1, 2, 3, 4, 5, 6, 7, 8])("silence of %i channels decodes to zeros", async (channels) => {
  // AAC LC, 48 kHz; 6.1 and 7.1 are configurations 11 and 7.
  const configuration = channels === 7 ? 11 : channels === 8 ? 7 : channels;
  const config = new DataView(new ArrayBuffer(2));
  config.setUint16(0, (2 << 11) | (3 << 7) | (configuration << 3));
  const parameters = new CodecParameters();
  parameters.alloc();
  const aac = Codec.findDecoderByName("aac" as Parameters<typeof Codec.findDecoderByName>[0]);
  const decoder = new CodecContext();
  decoder.allocContext3(aac);
  decoder.extraData = Buffer.from(config.buffer);
  expect(await decoder.open2(aac)).toBe(0);

  const packet = new Packet();
  packet.alloc();
  packet.data = Buffer.from(silentAacFrame(channels));
  expect(await decoder.sendPacket(packet)).toBe(0);
  const frame = new Frame();
  frame.alloc();
  expect(await decoder.receiveFrame(frame)).toBe(0);
  expect({ samples: frame.nbSamples, channels: frame.channels }).toEqual({ samples: 1024, channels });
  expect((frame.extendedData ?? []).every((plane) => plane.every((byte) => byte === 0))).toBe(true);
  decoder.freeContext();
});

/** Encapsulation of Opus in ISO BMFF 4.3.2: version 0, channels, pre-skip of 312 samples, 48 kHz, no gain, mapping family 0. */
const dOps = (channels: number) => Uint8Array.of(0, channels, 1, 0x38, 0, 0, 0xbb, 0x80, 0, 0, 0);

test.each([1, 2])("Opus of %i channels and uneven packets is read and decoded, silence to zeros", async (channels) => {
  const track: AudioInitTrack = {
    kind: "audio",
    codec: "opus",
    config: dOps(channels),
    sampleRate: OPUS_SAMPLE_RATE,
    channels,
    timescale: OPUS_SAMPLE_RATE,
  };
  // Silence of 20, 10, 5 and 2.5 ms, then of 20 ms again.
  const packets = [0xf8, 0xf0, 0xe8, 0xe0, 0xf8].map((toc) => Uint8Array.of(toc, ...SILENT_OPUS_PACKET.subarray(1)));
  let time = 0;
  const samples: FragmentSample[] = packets.map((data) => {
    const sample = { time, decodeTime: time, duration: opusPacketSamples(data), isIndependent: true, data };
    time += sample.duration;
    return sample;
  });
  const durations = samples.map(({ duration }) => duration);
  expect(durations).toEqual([960, 480, 240, 120, 960]);
  const path = await store(`opus-${channels}.mp4`, [initSegment(track), ...writeAudioFragment(1, samples)]);

  const format = new FormatContext();
  expect(await format.openInput(path)).toBe(0);
  await format.findStreamInfo();
  const parameters = format.streams[0]?.codecpar;
  if (!parameters) throw new Error("no stream");
  expect([parameters.sampleRate, parameters.channels]).toEqual([OPUS_SAMPLE_RATE, channels]);
  let decoded = 0;
  await decodeFirstStream(format, (frame) => {
    decoded += frame.nbSamples;
    expect((frame.extendedData ?? []).every((plane) => plane.every((byte) => byte === 0))).toBe(true);
  });
  // A decoder leaves out the pre-skip.
  expect([time, time - 312]).toContain(decoded);

  const input = new Input({ source: new BufferSource(await readFile(path)), formats: ALL_FORMATS });
  const [read] = await input.getAudioTracks();
  if (!read) throw new Error("mediabunny finds no track");
  expect([read.codec, read.numberOfChannels, read.sampleRate]).toEqual(["opus", channels, OPUS_SAMPLE_RATE]);
  const found: number[] = [];
  for await (const { duration } of new EncodedPacketSink(read).packets())
    found.push(Math.round(duration * OPUS_SAMPLE_RATE));
  expect(found).toEqual(durations);
});

test.each(["avc", "hevc", "av1"] as const)(
  "an init segment and a fragment of %s decode to every picture",
  async (codec) => {
    const { track, samples } = await encodePicture(codec, 1, 0);
    const path = await store(`${codec}.mp4`, [initSegment(track), ...writeVideoFragment(1, samples)]);
    const format = new FormatContext();
    expect(await format.openInput(path)).toBe(0);
    await format.findStreamInfo();
    const parameters = format.streams[0]?.codecpar;
    expect([parameters?.width, parameters?.height]).toEqual([track.width, track.height]);
    expect(await countDecodedPictures(format)).toBe(FRAME_RATE);
  },
);

test("a progressive file of joint init, index and segments has its duration, every packet and seek points", async () => {
  const video = await encodePicture("avc", 4, 2);
  const reorderTicks = video.samples[0]?.time ?? 0;
  expect(reorderTicks).toBeGreaterThan(0);
  const audio = await encodeTone(4);
  const segments = [0, 1].map((n) => {
    const pictures = video.samples.slice(n * 2 * FRAME_RATE, (n + 1) * 2 * FRAME_RATE);
    const tones = audio.samples.filter(({ time }) => Math.floor(time / 96_000) === n);
    return [...writeVideoFragment(2 * n + 1, pictures), ...writeAudioFragment(2 * n + 2, tones)];
  });
  const tracks = [
    {
      trackId: VIDEO_TRACK_ID,
      timescale: 90_000,
      starts: [0, 180_000].map((start) => start + reorderTicks),
      endTicks: 360_000 + reorderTicks,
      isIndependent: true,
    },
    { trackId: AUDIO_TRACK_ID, timescale: 48_000, starts: [0, 96_000], endTicks: 192_000, isIndependent: true },
  ];
  const index = segmentIndexes(
    tracks,
    segments.map((pieces) => pieces.reduce((total, piece) => total + piece.length, 0)),
  );
  const path = await store("joint.mp4", [
    jointInit([{ track: video.track }, { track: audio.track }], 4),
    index,
    ...segments.flat(),
  ]);

  const format = new FormatContext();
  expect(await format.openInput(path)).toBe(0);
  await format.findStreamInfo();
  expect(format.streams.map(({ codecpar }) => codecpar.getCodecString())).toEqual([
    describeAvc(video.track.config).codecString,
    "mp4a.40.2",
  ]);
  expect(Math.abs(Number(format.duration) / 1e6 - 4)).toBeLessThan(0.2);
  // 3.5 s lies in the second segment: the way back leads to its keyframe at 2 s.
  expect(await format.seekFrame(0, 315_000n, AVSEEK_FLAG_BACKWARD)).toBeGreaterThanOrEqual(0);
  const packet = new Packet();
  packet.alloc();
  do expect(await format.readFrame(packet)).toBe(0);
  while (packet.streamIndex !== 0);
  expect({ pts: Number(packet.pts), dts: packet.dts, isKeyframe: packet.isKeyframe }).toEqual({
    pts: 180_000 + reorderTicks,
    dts: 180_000n,
    isKeyframe: true,
  });
  packet.free();
  await format.closeInput();

  const input = new Input({ source: new BufferSource(await readFile(path)), formats: ALL_FORMATS });
  const [videoTrack] = await input.getVideoTracks();
  const [audioTrack] = await input.getAudioTracks();
  if (!videoTrack || !audioTrack) throw new Error("mediabunny finds no tracks");
  expect(await input.computeDuration()).toBeCloseTo(4 + reorderTicks / 90_000, 1);
  const shown: number[] = [];
  for await (const { timestamp } of new EncodedPacketSink(videoTrack).packets())
    shown.push(Math.round(timestamp * FRAME_RATE));
  expect(shown.sort((a, b) => a - b)).toEqual(video.samples.map((_, i) => i + reorderTicks / TICKS_PER_FRAME));
  let frames = 0;
  for await (const _ of new EncodedPacketSink(audioTrack).packets()) frames++;
  expect(frames).toBe(audio.samples.length);
});

test.each(["avc", "hevc"] as const)(
  "a transport stream of %s with B-frames and AAC has every packet at its time, and decodes",
  async (codec) => {
    const video = await encodePicture(codec, 3, 2);
    const audio = await encodeTone(3);
    const units = [
      ...video.samples.map((sample) => ({ ...sample, kind: "video" as const })),
      ...audio.samples.map((sample) => ({
        ...sample,
        kind: "audio" as const,
        time: Math.round((sample.time * 90_000) / 48_000),
        decodeTime: Math.round((sample.decodeTime * 90_000) / 48_000),
      })),
    ].sort((a, b) => a.decodeTime - b.decodeTime);
    const muxer = new TsMuxer();
    muxer.begin({ video: { codec, config: video.track.config }, audio: { config: audio.track.config } });
    const pieces: Uint8Array[] = [];
    for (const { kind, time, decodeTime, isIndependent, data } of units) {
      muxer.write({ kind, presentationTicks: time, decodeTicks: decodeTime, isIndependent, data }, (bytes) => {
        const piece = new Uint8Array(bytes);
        pieces.push(piece);
        return piece;
      });
    }
    const path = await store(`${codec}.ts`, pieces);

    const format = new FormatContext();
    expect(await format.openInput(path)).toBe(0);
    await format.findStreamInfo();
    const [first, second] = format.streams.map(({ codecpar }) => codecpar);
    expect([first?.width, first?.height, second?.sampleRate]).toEqual([320, 180, 48_000]);
    const found: (readonly [string, number, number])[] = [];
    const packet = new Packet();
    packet.alloc();
    while ((await format.readFrame(packet)) >= 0) {
      found.push([packet.streamIndex === 0 ? "video" : "audio", Number(packet.dts), Number(packet.pts)]);
      packet.unref();
    }
    packet.free();
    await format.closeInput();
    const timesOf = (kind: string, list: readonly (readonly [string, number, number])[]) =>
      list.filter(([of]) => of === kind).map(([, dts, pts]) => [dts, pts]);
    const lead = 45_000;
    const sent = units.map(({ kind, decodeTime, time }) => [kind, decodeTime + lead, time + lead] as const);
    expect(timesOf("video", found)).toEqual(timesOf("video", sent));
    // FFmpeg cuts sound into frames itself, and rounds their times.
    const [heard, played] = [timesOf("audio", found), timesOf("audio", sent)];
    expect(heard.length).toBe(played.length);
    for (const [index, [dts = 0]] of heard.entries()) expect(Math.abs(dts - (played[index]?.[0] ?? 0))).toBeLessThan(3);

    const again = new FormatContext();
    expect(await again.openInput(path)).toBe(0);
    await again.findStreamInfo();
    expect(await countDecodedPictures(again)).toBe(3 * FRAME_RATE);
  },
);

/** Encodes the test picture, and compares what the parsers say of it with what was asked for. */
async function encodePicture(
  codec: "avc" | "hevc" | "av1",
  seconds: number,
  bFrames: number,
): Promise<{ track: VideoInitTrack; samples: FragmentSample[] }> {
  const size = { width: 320, height: 180 };
  const picture = await openPicture({
    codec,
    ...size,
    frameRate: FRAME_RATE,
    gopSeconds: 2,
    bFrames,
    bitrateBps: 200_000,
    preset: "ultrafast",
  });
  const packets = encode(picture, seconds * FRAME_RATE);
  const config = decoderConfig(codec, picture.encoder);
  const describe = { avc: describeAvc, hevc: describeHevc, av1: describeAv1 }[codec];
  expect(describe(config)).toMatchObject({ ...size, chroma: "4:2:0", bitDepth: 8 });

  const delay = -(packets[0]?.dts ?? 0);
  const samples = packets.map(({ pts, dts, isKeyframe, data }) => {
    const unit = codec === "av1" ? data : annexBToLengthPrefixed(data);
    expect(isIdrAccessUnit(codec, unit)).toBe(isKeyframe);
    return {
      time: (pts + delay) * TICKS_PER_FRAME,
      decodeTime: (dts + delay) * TICKS_PER_FRAME,
      duration: TICKS_PER_FRAME,
      isIndependent: isKeyframe,
      data: unit,
    };
  });
  return { track: { kind: "video", codec, config, ...size, timescale: 90_000 }, samples };
}

async function encodeTone(seconds: number): Promise<{ track: AudioInitTrack; samples: FragmentSample[] }> {
  const tone = await openTone(96_000);
  const config = Uint8Array.from(tone.encoder.extraData ?? []);
  const { sampleRate, channels } = describeAac(config);
  const samples = encode(tone, Math.round(seconds / tone.frameSeconds))
    .filter(({ pts }) => pts >= 0)
    .map(({ pts, data }) => ({ time: pts, decodeTime: pts, duration: 1024, isIndependent: true, data }));
  return { track: { kind: "audio", codec: "aac", config, sampleRate, channels, timescale: sampleRate }, samples };
}

interface EncodedPacket {
  readonly pts: number;
  readonly dts: number;
  readonly isKeyframe: boolean;
  readonly data: Uint8Array;
}

function encode(track: GeneratedTrack, frames: number): EncodedPacket[] {
  const packets = [...Array.from({ length: frames }, () => track.next()).flat(), ...track.finish()];
  return packets.map((packet) => {
    const { pts, dts, isKeyframe, data } = packet;
    const copy = { pts: Number(pts), dts: Number(dts), isKeyframe, data: Uint8Array.from(data ?? []) };
    packet.free();
    return copy;
  });
}

function decoderConfig(codec: "avc" | "hevc" | "av1", encoder: CodecContext): Uint8Array {
  const parameters = new CodecParameters();
  parameters.alloc();
  parameters.fromContext(encoder);
  const record = parameters.getDecoderConfigurationRecord() ?? Buffer.alloc(0);
  parameters.free();
  // For AV1 FFmpeg gives the sequence header alone: av1C has marker, profile 0 and level 2.0, and 4:2:0 before it.
  return codec === "av1" ? Uint8Array.of(0x81, 0x00, 0x0c, 0x00, ...record) : Uint8Array.from(record);
}

async function store(name: string, pieces: readonly Uint8Array[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, Buffer.concat(pieces));
  return path;
}

async function countDecodedPictures(format: FormatContext): Promise<number> {
  let pictures = 0;
  await decodeFirstStream(format, () => pictures++);
  return pictures;
}

/** Decodes to the end, and closes the file. */
async function decodeFirstStream(format: FormatContext, onFrame: (frame: Frame) => void): Promise<void> {
  const parameters = format.streams[0]?.codecpar;
  if (!parameters) throw new Error("no stream");
  const codec = Codec.findDecoder(parameters.codecId);
  const decoder = new CodecContext();
  decoder.allocContext3(codec);
  decoder.parametersToContext(parameters);
  expect(await decoder.open2(codec)).toBe(0);
  const packet = new Packet();
  packet.alloc();
  const frame = new Frame();
  frame.alloc();
  for (let more = true; more; ) {
    more = (await format.readFrame(packet)) >= 0;
    if (!more || packet.streamIndex === 0) expect(await decoder.sendPacket(more ? packet : null)).toBe(0);
    packet.unref();
    while ((await decoder.receiveFrame(frame)) >= 0) onFrame(frame);
  }
  packet.free();
  frame.free();
  decoder.freeContext();
  await format.closeInput();
}
