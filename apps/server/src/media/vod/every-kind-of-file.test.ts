import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { decodePictures, decodeSound } from "./decoded-file-rig.ts";
import { BOTTOM_LEFT, BOTTOM_RIGHT, TOP_LEFT, TOP_RIGHT } from "./drawn-picture-rig.ts";
import { type FileOptions, fileOf, makeFile } from "./media-file-rig.ts";
import { everyFrame } from "./media-track-rig.ts";
import { processHere } from "./process-here-rig.ts";
import { FileRefused } from "./refusal.ts";

const X264 = { encoder: "libx264", options: { preset: "ultrafast" } } as const;
const AAC = { encoder: "aac" } as const;
const UPRIGHT = [TOP_LEFT, TOP_RIGHT, BOTTOM_LEFT, BOTTOM_RIGHT];
/** Brightness difference that encoding may cause. */
const NEAR = 6;

async function process(options: FileOptions) {
  await using file = await makeFile(options);
  const made = await processHere(file.path);
  const pictures = async (rendition: string) => decodePictures(made.renditions.get(rendition) ?? Buffer.alloc(0));
  const sound = () => decodeSound(made.renditions.get("audio") ?? Buffer.alloc(0));
  return { ...made, pictures, sound };
}

const near = (values: readonly number[], wanted: readonly number[]) =>
  values.every((value, n) => Math.abs(value - (wanted[n] ?? 0)) <= NEAR);

const KINDS: readonly (readonly [string, FileOptions, { isCopied: boolean }])[] = [
  ["an MP4 with its index at the end", { format: "mp4", video: X264, audio: AAC }, { isCopied: true }],
  [
    "an MP4 with B-frames",
    { format: "mp4", video: { ...X264, options: { preset: "ultrafast", bf: "2" } }, audio: AAC },
    { isCopied: true },
  ],
  ["a MOV", { format: "mov", video: X264, audio: { encoder: "pcm_s16le", samples: "s16" } }, { isCopied: true }],
  ["an MKV with AC-3", { format: "matroska", video: X264, audio: { encoder: "ac3" } }, { isCopied: true }],
  [
    "an MKV with B-frames",
    { format: "matroska", video: { ...X264, options: { preset: "ultrafast", bf: "2" } } },
    { isCopied: true },
  ],
  [
    "an MPEG-TS with B-frames",
    { format: "mpegts", video: { ...X264, options: { preset: "ultrafast", bf: "2" } } },
    { isCopied: true },
  ],
  ["an MPEG-TS", { format: "mpegts", video: X264, audio: AAC }, { isCopied: true }],
  ["an FLV", { format: "flv", video: X264, audio: AAC }, { isCopied: true }],
  [
    "an AVI of motion JPEG and MP3",
    {
      format: "avi",
      video: { encoder: "mjpeg", pixels: "yuvj420p", timeBase: [1, 25] },
      audio: { encoder: "libmp3lame" },
    },
    { isCopied: false },
  ],
  [
    "a WebM of VP9 and Opus",
    {
      format: "webm",
      video: { encoder: "libvpx-vp9", options: { deadline: "realtime", "cpu-used": "8" } },
      audio: { encoder: "libopus", samples: "flt" },
    },
    { isCopied: false },
  ],
  [
    "a WebM of VP8 and Vorbis",
    {
      format: "webm",
      video: { encoder: "libvpx", options: { deadline: "realtime", "cpu-used": "8" } },
      audio: { encoder: "libvorbis" },
    },
    { isCopied: false },
  ],
  [
    "HEVC",
    {
      format: "mp4",
      video: { encoder: "libx265", options: { preset: "ultrafast", "x265-params": "log-level=none:pools=none" } },
    },
    { isCopied: false },
  ],
  [
    "AV1",
    { format: "mp4", video: { encoder: "libsvtav1", options: { preset: "13", "svtav1-params": "lp=1" } } },
    { isCopied: false },
  ],
  ["10 bits", { format: "mp4", video: { ...X264, pixels: "yuv420p10le" } }, { isCopied: false }],
  ["4:4:4", { format: "mp4", video: { ...X264, pixels: "yuv444p" } }, { isCopied: false }],
  [
    "motion JPEG in full range",
    { format: "mov", video: { encoder: "mjpeg", pixels: "yuvj420p" } },
    { isCopied: false },
  ],
];

test.each(KINDS)("every picture of %s is in every rung", async (_kind, options, { isCopied }) => {
  const made = await process(options);
  expect(made.isCopied).toBe(isCopied);
  for (const rendition of ["source", "v0"]) {
    const pictures = await made.pictures(rendition);
    expect(pictures).toHaveLength(everyFrame().length);
    const last = pictures.at(-1)?.seconds ?? 0;
    for (const [n, { number, seconds, corners }] of pictures.entries()) {
      expect([n, Math.abs(number - n) <= 1]).toEqual([n, true]);
      // AVI files have a gap after their first picture.
      if (n > 0) expect(last - seconds).toBeCloseTo((49 - n) / 25, 2);
      expect([corners, near(corners, UPRIGHT)]).toEqual([corners, true]);
    }
  }
  if (!options.audio) return expect(made.renditions.has("audio")).toBe(false);
  const { seconds, loudness } = await made.sound();
  expect(seconds).toBeGreaterThan(1.95);
  expect(seconds).toBeLessThan(2.2);
  expect(loudness).toBeGreaterThan(0.05);
});

test("an MP4 with a zero after a parameter set in its header is copied", async () => {
  const options = { preset: "ultrafast", "x264-params": "repeat-headers=1" };
  await using file = await makeFile({ format: "mp4", video: { encoder: "libx264", options } });
  const bytes = await readFile(file.path);
  const at = (type: string) => bytes.lastIndexOf(type, undefined, "latin1");
  const end = at("avcC") - 4 + bytes.readUInt32BE(at("avcC") - 4);
  // Its last element is one picture parameter set, after its length.
  for (const type of ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1", "avcC"])
    bytes.writeUInt32BE(bytes.readUInt32BE(at(type) - 4) + 1, at(type) - 4);
  const length = end - bytes.lastIndexOf(0x68, end) + 1;
  bytes.writeUInt16BE(length, end - length - 1);
  await using changed = await fileOf(Buffer.concat([bytes.subarray(0, end), Buffer.of(0), bytes.subarray(end)]));
  const { isCopied, renditions } = await processHere(changed.path);
  expect(isCopied).toBe(true);
  expect(await decodePictures(renditions.get("source") ?? Buffer.alloc(0))).toHaveLength(everyFrame().length);
});

test.each([
  [90, [BOTTOM_LEFT, TOP_LEFT, BOTTOM_RIGHT, TOP_RIGHT]],
  [180, [BOTTOM_RIGHT, BOTTOM_LEFT, TOP_RIGHT, TOP_LEFT]],
  [270, [TOP_RIGHT, BOTTOM_RIGHT, TOP_LEFT, BOTTOM_LEFT]],
] as const)("a video turned by %i degrees comes out upright", async (turn, wanted) => {
  const { pictures } = await process({ format: "mp4", video: { ...X264, turn } });
  const [first] = await pictures("source");
  expect([first?.width, first?.height]).toEqual(turn === 180 ? [160, 96] : [96, 160]);
  expect([first?.corners, near(first?.corners ?? [], wanted)]).toEqual([first?.corners, true]);
});

test("with a variable frame rate each picture keeps its time", async () => {
  const times = [0, 0.04, 0.2, 0.24, 0.5, 1, 1.01, 1.1, 1.5, 1.9];
  const { pictures } = await process({ format: "mp4", video: { ...X264, times, gopFrames: 4 } });
  for (const rendition of ["source", "v0"]) {
    const shown = await pictures(rendition);
    const start = shown[0]?.seconds ?? 0;
    expect(shown.map(({ seconds }) => Math.round((seconds - start) * 100) / 100)).toEqual(times);
  }
});

test("interlaced video is deinterlaced without combing", async () => {
  const options = { preset: "ultrafast", "x264-params": "tff=1" };
  const { isCopied, pictures } = await process({
    format: "mp4",
    video: { encoder: "libx264", options, isInterlaced: true },
  });
  expect(isCopied).toBe(false);
  const shown = await pictures("source");
  expect(shown).toHaveLength(50);
  expect((shown.at(-1)?.seconds ?? 0) - (shown[0]?.seconds ?? 0)).toBeCloseTo(49 / 25, 2);
  expect(Math.max(...shown.map(({ combing }) => combing))).toBeLessThan(100);
});

test.each([
  // By PQ, code value 140 is about 150 nits, bright on a common screen, and was 140 before. HLG is designed to look the same on both.
  ["PQ", "smpte2084", 166, 40],
  ["HLG", "arib-std-b67", 130, 45],
])("HDR video (%s) is tone-mapped to SDR", async (_curve, transfer, bright, black) => {
  const options = {
    preset: "ultrafast",
    "x264-params": `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc`,
  };
  const { pictures } = await process({ format: "mp4", video: { encoder: "libx264", options, pixels: "yuv420p10le" } });
  const [first] = await pictures("source");
  const [dark = 0, , mid = 0] = first?.corners ?? [];
  expect([dark, mid, mid >= bright && dark < black]).toEqual([dark, mid, true]);
});

test("odd dimensions become even, with the same aspect ratio", async () => {
  const { pictures } = await process({ format: "mp4", video: { ...X264, width: 161, height: 91, pixels: "yuv444p" } });
  const [first] = await pictures("source");
  expect([first?.width, first?.height]).toEqual([162, 92]);
});

test("non-square pixels become square, with the same display aspect ratio", async () => {
  const wide = { encoder: "libx265", options: { preset: "ultrafast", "x265-params": "log-level=none:pools=none" } };
  const { pictures } = await process({ format: "mp4", video: { ...wide, pixelShape: [4, 3] } });
  const [first] = await pictures("source");
  expect([first?.width, first?.height]).toEqual([214, 96]);
});

test.each([
  ["5.1 is downmixed", { format: "mp4", audio: { encoder: "aac", channels: 6 } }, 2, 48_000],
  [
    "mono at 8 kHz",
    { format: "wav", audio: { encoder: "pcm_s16le", samples: "s16", channels: 1, rate: 8_000 } },
    1,
    48_000,
  ],
  ["an MP3", { format: "mp3", audio: { encoder: "libmp3lame", rate: 44_100 } }, 2, 44_100],
  ["Ogg with Vorbis", { format: "ogg", audio: { encoder: "libvorbis", rate: 44_100 } }, 2, 44_100],
  ["FLAC", { format: "flac", audio: { encoder: "flac", samples: "s16" } }, 2, 48_000],
  ["AAC with ADTS headers", { format: "adts", audio: { encoder: "aac" } }, 2, 48_000],
] as const)("audio only: %s", async (_kind, options, channels, rate) => {
  const { file, sound, spans } = await process(options);
  expect(file.picture).toBeNull();
  const heard = await sound();
  expect([heard.channels, heard.rate]).toEqual([channels, rate]);
  expect(heard.seconds).toBeGreaterThan(1.95);
  expect(heard.seconds).toBeLessThan(2.15);
  expect(heard.loudness).toBeGreaterThan(0.05);
  expect(spans.flatMap(({ segments }) => segments.map(({ msn }) => msn)).slice(0, 2)).toEqual([1, 2]);
});

test.each([
  ["nothing", ""],
  ["one byte", "a"],
  ["text", "Dear Sir or Madam, ".repeat(1_000)],
  [
    "an HLS playlist that names a file",
    "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n",
  ],
  ["a list of files to join", "ffconcat version 1.0\nfile '/etc/passwd'\n"],
  ["a DASH manifest", '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"></MPD>'],
  ["a session description", "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=a\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n"],
  ["an SVG", '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'],
  ["an HTML page", "<html><script>alert(1)</script></html>"],
  ["a playlist of FFmpeg URLs", "subfile,,start,0,end,99,,:/etc/passwd\ndata:video/mp4;base64,AAAA\n"],
  [
    "an HTML page followed by an MP4",
    `<html><script>alert(1)</script></html>${"\0\0\0\x1cftypisom\0\0\x02\0isomiso2avc1"}`,
  ],
  ["a picture", Buffer.from("89504e470d0a1a0a0000000d494844520000000100000001080600000000", "hex")],
  ["a ZIP with a password", Buffer.from("504b0304140001000800", "hex")],
  ["a ZIP", Buffer.from("504b0304140000000800", "hex")],
  [
    "an MP4 without an index",
    Buffer.from("0000001c6674797069736f6d0000020069736f6d69736f32617663310000000c6d64617400000000", "hex"),
  ],
  [
    "an MP4 whose box has no size",
    Buffer.from(
      "0000001c6674797069736f6d0000020069736f6d69736f326176633100000001 6d6f6f76ffffffffffffffff".replace(" ", ""),
      "hex",
    ),
  ],
])("%s is refused with a message", async (_what, bytes) => {
  await using file = await fileOf(bytes);
  await expect(processHere(file.path)).rejects.toThrow(FileRefused);
  await expect(processHere(file.path)).rejects.toThrow(/Upload|Export/);
});

test("a truncated file is refused", async () => {
  await using whole = await makeFile({ format: "matroska", video: { ...X264, times: everyFrame(25, 8) } });
  const bytes = await readFile(whole.path);
  await using part = await fileOf(bytes.subarray(0, bytes.length / 2));
  await expect(processHere(part.path)).rejects.toThrow(/truncated: it declares 8 seconds/);
});

test("a file with captions and further languages names what is left out of it", async () => {
  const languages = { audio: ["deu", "a\u0007<script>"], captions: ["eng"] };
  const { file } = await process({ format: "matroska", video: X264, audio: AAC, languages });
  expect(file.spec.leftOut).toEqual([
    { type: "audio", count: 2, languages: ["deu"] },
    { type: "captions", count: 1, languages: ["eng"] },
  ]);
});

test("a file with one track of each kind has nothing left out", async () => {
  expect((await process({ format: "mp4", video: X264, audio: AAC })).file.spec.leftOut).toBe(undefined);
});
