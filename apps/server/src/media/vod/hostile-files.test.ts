import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { checkLength } from "./file-spec.ts";
import { fileOf, makeFile } from "./media-file-rig.ts";
import { everyFrame } from "./media-track-rig.ts";
import { processHere } from "./process-here-rig.ts";
import { FileRefused } from "./refusal.ts";

const X264 = { encoder: "libx264", options: { preset: "ultrafast" } } as const;

async function changed(bytes: Buffer, change: (bytes: Buffer) => void): Promise<{ path: string } & AsyncDisposable> {
  const copy = Buffer.from(bytes);
  change(copy);
  return fileOf(copy);
}

async function mp4(): Promise<Buffer> {
  await using file = await makeFile({ format: "mp4", video: X264, audio: { encoder: "aac" } });
  return readFile(file.path);
}

const made = (path: string): Promise<string> =>
  processHere(path).then(
    () => "processed the readable part",
    (error: unknown) => (error instanceof FileRefused ? "refused" : Promise.reject(error)),
  );

/** Offset of the body of the first box of a type. */
const at = (bytes: Buffer, type: string): number => bytes.indexOf(type, 0, "latin1") + 4;

test("an AVI with a playlist as its subtitles makes no connection", async () => {
  const calls: string[] = [];
  const server = createServer((socket) => {
    calls.push("called");
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using avi = await makeFile({
    format: "avi",
    video: { encoder: "mjpeg", pixels: "yuvj420p", timeBase: [1, 25] },
  });
  const playlist = Buffer.from(
    `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:${port}/a.ts\n#EXT-X-ENDLIST\n`,
  );
  const subtitles = Buffer.concat([Buffer.from("GAB2\0\x02\0\0\0\0\0\x04\0", "latin1"), Buffer.alloc(4), playlist]);
  const whole = await readFile(avi.path);
  // In place of the index, as a chunk of a text stream.
  const chunk = Buffer.concat([Buffer.from("01tx", "latin1"), Buffer.alloc(4), subtitles]);
  chunk.writeUInt32LE(subtitles.byteLength, 4);
  const index = whole.lastIndexOf("idx1", undefined, "latin1");
  await using file = await fileOf(Buffer.concat([whole.subarray(0, index), chunk, whole.subarray(index)]));
  await processHere(file.path).catch((error: unknown) => expect(error).toBeInstanceOf(FileRefused));
  await using list = await fileOf(playlist);
  await expect(processHere(list.path)).rejects.toThrow(FileRefused);
  server.close();
  expect(calls).toEqual([]);
});

test("a MOV whose samples are in another file is refused and does not read that file", async () => {
  const bytes = await mp4();
  await using file = await changed(bytes, (copy) => {
    // The flag that declares the media to be in the same file.
    for (let dref = at(copy, "dref"); dref > 3; dref = copy.indexOf("dref", dref, "latin1") + 4)
      copy.writeUInt32BE(0, dref + 16);
  });
  // The demuxer has no other file open, so it reads this file's own bytes or nothing.
  expect(["refused", "processed the readable part"]).toContain(await made(file.path));
});

test("a Matroska file that names other files as its parts plays without them", async () => {
  const element = (id: string, ...content: readonly Buffer[]): Buffer => {
    const body = Buffer.concat(content);
    return Buffer.concat([Buffer.from(id, "hex"), Buffer.of(0x80 | body.byteLength), body]);
  };
  const other = Buffer.alloc(16, 7);
  const chapter = element("b6", element("73c4", Buffer.of(1)), element("91", Buffer.of(0)), element("6e67", other));
  const chapters = element("1043a770", element("45b9", element("45dd", Buffer.of(1)), chapter));
  const links = element("1549a966", element("3eb923", other), element("3e83bb", Buffer.from("/etc/passwd")));
  await using plain = await makeFile({ format: "matroska", video: X264 });
  const bytes = await readFile(plain.path);
  await using linked = await changed(bytes, (copy) => {
    // The room that is left between the list of elements and the first.
    const room = copy.indexOf("ec010000000000", "hex");
    expect(room).toBeGreaterThan(0);
    const after = room + 9 + copy.readUIntBE(room + 6, 3);
    const end = Buffer.concat([chapters, links]).copy(copy, room) + room;
    copy.writeUIntBE(0xec80 | (after - end - 2), end, 2);
  });
  const [own, made] = [await processHere(plain.path), await processHere(linked.path)];
  expect(made.file.spec).toEqual(own.file.spec);
  expect(made.renditions).toEqual(own.renditions);
});

test.each([
  [
    "a box of 2^63 bytes",
    (copy: Buffer) => {
      const moov = at(copy, "moov") - 8;
      copy.writeUInt32BE(1, moov);
      copy.writeBigUInt64BE(0x7fff_ffff_ffff_ffffn, moov + 8);
    },
  ],
  ["a box inside itself", (copy: Buffer) => copy.write("moov", at(copy, "mvhd") - 4, "latin1")],
  ["four thousand million samples", (copy: Buffer) => copy.writeUInt32BE(0xffff_ffff, at(copy, "stsz") + 8)],
  ["a box that ends after the file", (copy: Buffer) => copy.writeUInt32BE(0x7fff_ffff, at(copy, "moov") - 8)],
  ["a box of no size", (copy: Buffer) => copy.writeUInt32BE(0, at(copy, "trak") - 8)],
  ["a negative edit list", (copy: Buffer) => copy.fill(0xff, at(copy, "elst") + 8, at(copy, "elst") + 16)],
  ["a duration of 2^31 ticks", (copy: Buffer) => copy.writeUInt32BE(0x7fff_ffff, at(copy, "mdhd") + 16)],
  ["chunks after the end of the file", (copy: Buffer) => copy.fill(0xff, at(copy, "stco") + 8, at(copy, "stco") + 12)],
] as const)("an MP4 with %s is refused or processed within 5 s", async (_what, change) => {
  await using file = await changed(await mp4(), change);
  const began = performance.now();
  expect(["refused", "processed the readable part"]).toContain(await made(file.path));
  expect(performance.now() - began).toBeLessThan(5_000);
});

test.each([
  ["a file of more than a day", (copy: Buffer) => copy],
  [
    "a long file whose header declares one second",
    (copy: Buffer) => copy.writeDoubleBE(1_000, copy.indexOf("448988", "hex") + 3),
  ],
])("%s is refused", async (_what, change) => {
  await using long = await makeFile({ format: "matroska", video: { ...X264, times: [0, 100_000] } });
  await using file = await changed(await readFile(long.path), change);
  await expect(processHere(file.path)).rejects.toThrow("28 hours");
});

test("a small file with many large pictures is refused while it is read, before decoding", () => {
  const sides = { width: 7680, height: 4320 };
  expect(() => checkLength(sides, 60_000, 1_000)).not.toThrow();
  expect(() => checkLength(sides, 61_000, 1_020)).toThrow("A video of 7680x4320 may not last 17 minutes");
});

test("pictures that declare 16,000 x 16,000 pixels allocate no memory", async () => {
  await using small = await makeFile({ format: "mov", video: { encoder: "mjpeg", pixels: "yuvj420p" } });
  // The header of each picture: length, 8 bits, height and width.
  const head = Buffer.from("ffc0001108", "hex");
  await using file = await changed(await readFile(small.path), (copy) => {
    let pictures = 0;
    for (let found = copy.indexOf(head); found >= 0; found = copy.indexOf(head, found + 1), pictures++)
      copy.writeUInt32BE(16_000 * 65_537, found + head.byteLength);
    expect(pictures).toBe(50);
  });
  const before = process.memoryUsage.rss();
  expect(["refused", "processed the readable part"]).toContain(await made(file.path));
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024);
});

test("30,000 frames per second are refused", async () => {
  const times = Array.from({ length: 100 }, (_, n) => n / 30_000);
  await using file = await makeFile({ format: "mp4", video: { ...X264, times, timeBase: [1, 30_000] } });
  await expect(processHere(file.path)).rejects.toThrow("frames per second; the maximum is 1000");
});

test("titles are ignored, whatever they contain", async () => {
  const title = `<script>alert(1)</script>\u202e\u0007${"x".repeat(1_000_000)}`;
  await using file = await makeFile({ format: "matroska", video: X264, metadata: { title } });
  const { file: scanned, renditions } = await processHere(file.path);
  expect(JSON.stringify(scanned)).not.toContain("script");
  for (const bytes of renditions.values()) expect(bytes.includes("script")).toBe(false);
});

test("a file whose timestamps jump back, as in a concatenated file, is refused", async () => {
  await using part = await makeFile({ format: "mpegts", video: { ...X264, times: everyFrame(25, 3) } });
  const bytes = await readFile(part.path);
  await using joined = await fileOf(Buffer.concat([bytes, bytes]));
  await expect(processHere(joined.path)).rejects.toThrow("jump back after 3 seconds");
});

test("random damage never crashes, and affects only the damaged parts", async () => {
  const bytes = await mp4();
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  for (let n = 0; n < 20; n++) {
    await using file = await changed(bytes, (copy) => {
      for (let hit = 0; hit < 30; hit++) copy[random(copy.byteLength)] = random(256);
    });
    expect(["refused", "processed the readable part"]).toContain(await made(file.path));
  }
}, 20_000);

test("of a very large number of tracks one is played, and not all are listed", async () => {
  await using file = await makeFile({ format: "matroska", audio: { encoder: "aac" }, emptyTracks: 120 });
  const { file: scanned, renditions } = await processHere(file.path);
  expect(scanned.spec.tracks).toHaveLength(16);
  expect([...renditions.keys()]).toEqual(["audio"]);
});

/** A picture or sound, then nothing for `hours`, then another. */
const afterHours = (hours: number): number[] => [
  ...everyFrame(25, 1),
  ...everyFrame(25, 1).map((at) => at + hours * 3600),
];

test.each([
  [
    "audio of 4 s with a gap of 23 hours",
    { audio: { encoder: "aac", seconds: 4, gap: 23 * 3600 } },
    "The audio of this file has a gap of 23 hours",
  ],
  [
    "audio that is re-encoded, with such a gap",
    { audio: { encoder: "libopus", samples: "flt", seconds: 4, gap: 23 * 3600 } },
    "The audio of this file has a gap of 23 hours",
  ],
  [
    "pictures 20 hours apart",
    { video: { ...X264, times: afterHours(20) } },
    "The video of this file has a gap of 20 hours",
  ],
  [
    "pictures that are re-encoded, 20 hours apart",
    { video: { encoder: "mjpeg", pixels: "yuvj420p", times: afterHours(20) } },
    "The video of this file has a gap of 20 hours",
  ],
  [
    "pictures half an hour apart",
    { video: { ...X264, times: afterHours(0.5) } },
    "The video of this file has a gap of 30 minutes",
  ],
  [
    "both tracks with a gap of 20 hours",
    {
      video: { encoder: "mjpeg", pixels: "yuvj420p", times: afterHours(20) },
      audio: { encoder: "aac", seconds: 4, gap: 20 * 3600 },
    },
    "of this file has a gap of 20 hours",
  ],
] as const)("%s, in a small file, are refused", async (_what, tracks, sentence) => {
  await using file = await makeFile({ format: "matroska", ...tracks });
  await expect(processHere(file.path)).rejects.toThrow(sentence);
});

test("a pause of five minutes in a small file is filled with silence", async () => {
  await using file = await makeFile({ format: "matroska", audio: { encoder: "aac", seconds: 4, gap: 300 } });
  const { file: scanned, spans } = await processHere(file.path);
  expect(scanned.spec.duration).toBeCloseTo(304, 0);
  const segments = spans.flatMap((span) => span.segments);
  expect(segments.reduce((sum, { durationTicks }) => sum + durationTicks, 0) / 48_000).toBeCloseTo(304, 0);
});
