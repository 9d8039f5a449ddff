import { FormatError } from "@weir/formats/bits";
import { type AmfObject, writeAmf0 } from "@weir/formats/rtmp";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { SourcePacket, Track } from "../../packet.ts";
import { UnsupportedCodec } from "../publish-refusals.ts";
import {
  AAC_CONFIG,
  AV1_CONFIG,
  AVC_360P_CONFIG,
  AVC_CONFIG,
  aacConfig,
  aacFrame,
  avcConfig,
  avcFrame,
  avcKeyframe,
  enhancedAudio,
  enhancedVideo,
  HEVC_CONFIG,
  nal,
} from "./rtmp-media.fixture.ts";
import { RtmpToPackets } from "./rtmp-to-packets.ts";

function publication() {
  const tracks: Track[] = [];
  const packets: SourcePacket[] = [];
  const converter = new RtmpToPackets(
    { track: (track) => tracks.push(track), packet: (packet) => packets.push(packet) },
    { release: () => {} },
  );
  return { tracks, packets, converter };
}

test("H.264 and AAC become tracks and packets on a 90 kHz clock", () => {
  const { converter, tracks, packets } = publication();
  converter.video(0, avcConfig());
  converter.audio(0, aacConfig());
  converter.video(1000, avcKeyframe());
  converter.audio(1005, aacFrame(1, 2, 3));
  converter.video(1033, avcFrame());
  expect(tracks).toEqual([
    {
      id: 0,
      kind: "video",
      codec: "avc",
      config: AVC_CONFIG,
      codecString: "avc1.640028",
      width: 1920,
      height: 1080,
      frameRate: 30_000 / 1001,
    },
    {
      id: 1,
      kind: "audio",
      codec: "aac",
      config: AAC_CONFIG,
      codecString: "mp4a.40.2",
      sampleRate: 44_100,
      channels: 2,
      frameSamples: 1024,
    },
  ]);
  expect(packets.map(({ data: _, ...rest }) => rest)).toEqual([
    { trackId: 0, kind: "video", dts: 90_000, pts: 97_200, isIndependent: true },
    { trackId: 1, kind: "audio", dts: 90_450, pts: 90_450, isIndependent: true },
    { trackId: 0, kind: "video", dts: 92_970, pts: 96_570, isIndependent: false },
  ]);
  expect(packets.map(({ data }) => Array.from(data.bytes))).toEqual([
    [0, 0, 0, 3, 0x65, 0x88, 0x84],
    [1, 2, 3],
    [0, 0, 0, 3, 0x41, 0x9a, 0x24],
  ]);
});

const metadata = (values: AmfObject) => writeAmf0("@setDataFrame", "onMetaData", values);

test("bitrates announced before the tracks belong to them, converted from kbit/s", () => {
  const { converter, tracks } = publication();
  converter.data(metadata({ videodatarate: 1100, audiodatarate: 128.5 }));
  converter.video(0, avcConfig());
  converter.audio(0, aacConfig());
  expect(tracks.map(({ announcedBps }) => announcedBps)).toEqual([1_100_000, 128_500]);
});

test.each([
  ["0 as some encoders send it", metadata({ videodatarate: 0 })],
  ["below any picture", metadata({ videodatarate: -5 })],
  ["bits in place of kbit/s", metadata({ videodatarate: 6_000_000 })],
  ["no number", metadata({ videodatarate: "2500" })],
  ["not a number", metadata({ videodatarate: Number.NaN })],
  ["other data", writeAmf0("onTextData", { videodatarate: 2500 })],
  ["nothing readable", Uint8Array.of(0xff, 1, 2)],
])("an implausible announced bitrate is ignored: %s", (_, payload) => {
  const { converter, tracks } = publication();
  converter.data(payload);
  converter.video(0, avcConfig());
  expect(tracks[0]?.announcedBps).toBeUndefined();
});

test.each([
  ["hvc1", HEVC_CONFIG, nal(19 << 1, 1, 2), "hevc", 3],
  ["avc1", AVC_CONFIG, nal(0x65, 1), "avc", 3],
  ["av01", AV1_CONFIG, Uint8Array.of(0x0a, 1, 0, 0x32, 2, 0x10, 0), "av1", 1],
] as const)("Enhanced RTMP %s becomes a track and independent packets", (fourCc, config, unit, codec, packetType) => {
  const { converter, tracks, packets } = publication();
  converter.video(0, enhancedVideo(fourCc, 0, config));
  converter.video(40, enhancedVideo(fourCc, packetType, unit));
  expect(tracks).toMatchObject([{ kind: "video", codec, config }]);
  expect(packets).toMatchObject([{ dts: 3600, pts: 3600, isIndependent: true, data: { bytes: unit } }]);
});

test("Enhanced RTMP mp4a is AAC", () => {
  const { converter, tracks, packets } = publication();
  converter.audio(0, enhancedAudio("mp4a", 0, AAC_CONFIG));
  converter.audio(0, enhancedAudio("mp4a", 1, Uint8Array.of(1, 2)));
  expect(tracks).toMatchObject([{ codec: "aac", config: AAC_CONFIG }]);
  expect(packets).toMatchObject([{ kind: "audio", data: { bytes: Uint8Array.of(1, 2) } }]);
});

test("a keyframe that is not an IDR picture is no random access point", () => {
  const { converter, packets } = publication();
  converter.video(0, avcConfig());
  converter.video(0, avcKeyframe(nal(0x41, 0x9a)));
  expect(packets).toMatchObject([{ isIndependent: false }]);
});

test("NAL unit lengths of two bytes become four, in the configuration too", () => {
  const { converter, tracks, packets } = publication();
  const config = AVC_CONFIG.slice();
  config[4] = 0xfd;
  converter.video(0, avcConfig(config));
  converter.video(0, avcKeyframe(Uint8Array.of(0, 2, 0x06, 0x01, 0, 3, 0x65, 0x88, 0x84)));
  expect(tracks).toMatchObject([{ config: AVC_CONFIG }]);
  expect(packets).toMatchObject([
    { isIndependent: true, data: { bytes: Uint8Array.of(0, 0, 0, 2, 0x06, 0x01, 0, 0, 0, 3, 0x65, 0x88, 0x84) } },
  ]);
});

test("row 12: frames before their sequence header are dropped", () => {
  const { converter, packets } = publication();
  converter.video(0, avcKeyframe());
  converter.audio(0, aacFrame());
  expect(packets).toEqual([]);
  converter.video(0, avcConfig());
  converter.audio(0, aacConfig());
  converter.video(40, avcKeyframe());
  converter.audio(40, aacFrame());
  expect(packets).toHaveLength(2);
});

test("row 12: a repeated sequence header, another picture size and another codec each announce the track again", () => {
  const { converter, tracks, packets } = publication();
  converter.video(0, avcConfig());
  converter.video(0, avcConfig());
  converter.video(0, avcConfig(AVC_360P_CONFIG));
  converter.video(0, avcKeyframe());
  converter.video(0, enhancedVideo("hvc1", 0, HEVC_CONFIG));
  converter.video(40, avcFrame()); // a straggler of the codec that was
  expect(tracks.map((track) => track.kind === "video" && [track.codec, track.height])).toEqual([
    ["avc", 1080],
    ["avc", 1080],
    ["avc", 360],
    ["hevc", 1080],
  ]);
  expect(packets).toHaveLength(1);
});

test("row 13: wraps are undone; steps back and jumps of 5 hours reach the hub unchanged", () => {
  const { converter, packets } = publication();
  converter.video(0, avcConfig());
  converter.audio(0, aacConfig());
  const start = 0xfffffff0;
  for (const time of [start, 0x10, 0x10 - 9, 18_000_016, 0x20]) converter.audio(time, aacFrame());
  expect(packets.map(({ dts }) => dts / 90 - 2 ** 32)).toEqual([-16, 16, 7, 18_000_016, 32]);
});

test("row 13: configurations do not start the clock", () => {
  const { converter, packets } = publication();
  converter.video(0, avcConfig());
  converter.audio(0x7fffffff, aacConfig());
  converter.video(0xfffffff0, avcKeyframe());
  expect(packets).toMatchObject([{ dts: 0xfffffff0 * 90 }]);
});

test.each([
  [
    "VP9",
    (to: RtmpToPackets) => to.video(0, enhancedVideo("vp09", 0, new Uint8Array(8))),
    "VP9 video",
    "H.264, HEVC or AV1",
  ],
  [
    "Sorenson",
    (to: RtmpToPackets) => to.video(0, Uint8Array.of(0x12, 0, 0)),
    "Sorenson H.263 video",
    "H.264, HEVC or AV1",
  ],
  ["VP6", (to: RtmpToPackets) => to.video(0, Uint8Array.of(0x14, 0, 0)), "VP6 video", "H.264, HEVC or AV1"],
  ["MP3", (to: RtmpToPackets) => to.audio(0, Uint8Array.of(0x2f, 1)), "MP3 audio", "AAC"],
  ["Speex", (to: RtmpToPackets) => to.audio(0, Uint8Array.of(0xb6, 1)), "Speex audio", "AAC"],
  ["Opus", (to: RtmpToPackets) => to.audio(0, enhancedAudio("Opus", 0, new Uint8Array(19))), "Opus audio", "AAC"],
] as const)("%s is refused by name, with the setting to change", (_, send, name, remedy) => {
  const { converter } = publication();
  expect(() => send(converter)).toThrow(UnsupportedCodec);
  expect(() => send(converter)).toThrow(new RegExp(`${name}.*${remedy}`));
});

test.each([
  ["an avcC cut short", (to: RtmpToPackets) => to.video(0, avcConfig(AVC_CONFIG.subarray(0, 9)))],
  [
    "an AudioSpecificConfig of nothing but ones",
    (to: RtmpToPackets) => to.audio(0, Uint8Array.of(0xaf, 0, 0xff, 0xff)),
  ],
])("%s is refused", (_, send) => {
  expect(() => send(publication().converter)).toThrow(FormatError);
});

test("empty messages, ends of sequence and command frames give no packets", () => {
  const { converter, packets } = publication();
  converter.video(0, avcConfig());
  converter.audio(0, aacConfig());
  converter.video(0, new Uint8Array());
  converter.audio(0, new Uint8Array());
  converter.audio(0, Uint8Array.of(0xaf, 1));
  converter.video(0, Uint8Array.of(0x17, 2, 0, 0, 0));
  converter.video(0, Uint8Array.of(0x57, 0));
  expect(packets).toEqual([]);
});

test("row 16: flipped bits give packets, FormatError or an unsupported codec", () => {
  const valid = [
    avcConfig(),
    avcKeyframe(),
    avcFrame(),
    enhancedVideo("hvc1", 0, HEVC_CONFIG),
    aacConfig(),
    aacFrame(),
  ];
  const flip = fc.record({ at: fc.nat(200), bit: fc.nat(7) });
  fc.assert(
    fc.property(
      fc.constantFrom(...valid),
      fc.array(flip, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      (message, flips, isVideo) => {
        const { converter } = publication();
        converter.video(0, avcConfig());
        converter.audio(0, aacConfig());
        const broken = message.slice();
        for (const { at, bit } of flips) broken[at % broken.length] = (broken[at % broken.length] ?? 0) ^ (1 << bit);
        try {
          if (isVideo) converter.video(40, broken);
          else converter.audio(40, broken);
          converter.video(80, avcFrame());
        } catch (error) {
          if (!(error instanceof UnsupportedCodec)) expect(error).toBeInstanceOf(FormatError);
        }
      },
    ),
    { numRuns: 2000 },
  );
});
