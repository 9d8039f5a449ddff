import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { Slices } from "../../platform/slices.ts";
import type { StoredSegment } from "../../ports/index.ts";
import { archiveMultivariant } from "./archive-playlists.ts";
import { OpenMedia } from "./open-media.ts";
import { StoredMedia } from "./stored-media.ts";

const INIT_BYTES: Readonly<Record<string, number>> = { "init-a.mp4": 700, "init-b.mp4": 650 };

const read = async (key: string) => Readable.from([new Uint8Array(INIT_BYTES[key.split("/").at(-1) ?? ""] ?? 0)]);

/** The rendition whose segments need these init segments, without the segments `missing`, by index. */
async function opened(inits: readonly string[], missing: readonly number[] = []) {
  const all = inits.map(
    (init, n): StoredSegment => ({
      ...{ msn: n + 1, epoch: 1, startTicks: n * 1000, durationTicks: 1000, programDateTimeMs: 0, init },
      ...{ discontinuity: false, gap: false, span: "1.m4s", offset: n * 100, length: 100 },
    }),
  );
  const segments = all.filter((_, n) => !missing.includes(n));
  const track = { kind: "video", codec: "avc", codecString: "", config: "", timescale: 1000 } as const;
  const renditions = [{ rendition: "source", track, segments, spanBytes: new Map([["1.m4s", 100 * inits.length]]) }];
  const index = { id: "clip", projectId: "project-1", keyPrefix: "v1/", renditions };
  const media = await OpenMedia.open(new StoredMedia(index, { read }), new Slices(new ManualClock()));
  return media.renditions.get("source");
}

async function playlistOf(...of: Parameters<typeof opened>): Promise<string> {
  const text = await (await (await opened(...of))?.playlist())?.in(null);
  return Buffer.from(text?.bytes ?? []).toString("latin1");
}

const mapsIn = (text: string): string[] => text.match(/#EXT-X-MAP:.*/g) ?? [];

test("where a rendition has several init segments, each is listed with its byte range", async () => {
  expect(mapsIn(await playlistOf(["init-a.mp4", "init-b.mp4", "init-b.mp4", "init-a.mp4"]))).toEqual([
    '#EXT-X-MAP:URI="init-a.mp4",BYTERANGE="700@0"',
    '#EXT-X-MAP:URI="init-b.mp4",BYTERANGE="650@0"',
    '#EXT-X-MAP:URI="init-a.mp4",BYTERANGE="700@0"',
  ]);
});

test("the only init segment of a rendition is not read for its length", async () => {
  expect(mapsIn(await playlistOf(["init-a.mp4", "init-a.mp4"]))).toEqual(['#EXT-X-MAP:URI="init-a.mp4"']);
});

test("segments that nobody has are gaps, whose file a player may ask for", async () => {
  const inits = Array<string>(5).fill("init-a.mp4");
  const text = await playlistOf(inits, [2, 3]);
  expect(text.match(/#EXT-X-GAP\n#EXTINF:1.00000,\ngap.m4s\n/g)).toHaveLength(2);
  expect(text).not.toContain("#EXT-X-DISCONTINUITY");
  expect((await opened(inits, [2, 3]))?.files.has("gap.m4s")).toBe(true);
  expect((await opened(inits))?.files.has("gap.m4s")).toBe(false);
});

test("a rendition that holds nothing but gaps is not listed", async () => {
  const media = await mediaOf({ source: [false, true], audio: [true, true] });
  expect([...media.renditions.keys()]).toEqual(["source"]);
  expect(archiveMultivariant(media.renditions.values(), (rendition) => `${rendition}/index.m3u8`)).not.toContain(
    "audio",
  );
});

/** Media with renditions whose segments are gaps or not. */
function mediaOf(gaps: Readonly<Record<"source" | "audio", readonly boolean[]>>): Promise<OpenMedia> {
  const renditions = (["source", "audio"] as const).map((rendition) => ({
    rendition,
    track:
      rendition === "source"
        ? ({ kind: "video", codec: "avc", codecString: "", config: "", timescale: 1000 } as const)
        : ({ kind: "audio", codec: "aac", codecString: "", config: "", timescale: 1000 } as const),
    segments: gaps[rendition].map(
      (gap, n): StoredSegment => ({
        ...{ msn: n + 1, epoch: 1, startTicks: n * 1000, durationTicks: 1000, programDateTimeMs: 0 },
        ...{
          discontinuity: false,
          gap,
          init: gap ? "" : "init-a.mp4",
          span: gap ? "" : "1.m4s",
          offset: 0,
          length: 100,
        },
      }),
    ),
    spanBytes: new Map([["1.m4s", 100]]),
  }));
  const index = { id: "recording", projectId: "project-1", keyPrefix: "v1/", renditions };
  return OpenMedia.open(new StoredMedia(index, { read }), new Slices(new ManualClock()));
}
