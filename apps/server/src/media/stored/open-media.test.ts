import { expect, test } from "vitest";
import { ManualClock } from "../../platform/manual-clock-rig.ts";
import { Slices } from "../../platform/slices.ts";
import type { StoredSegment } from "../../ports/index.ts";
import { OpenMedia } from "./open-media.ts";
import { StoredMedia } from "./stored-media.ts";

/** The peak of a recording whose segments have these lengths in bytes and milliseconds. */
async function peakOf(...segments: readonly (readonly [bytes: number, milliseconds: number])[]) {
  const rows = segments.map(([length, durationTicks], nth): StoredSegment => {
    const where = { msn: nth + 1, epoch: 1, span: "1-1.m4s", init: "init-0.mp4", offset: 0, startTicks: 0 };
    return { ...where, length, durationTicks, programDateTimeMs: 0, discontinuity: false, gap: false };
  });
  const track = { kind: "video", codec: "avc", codecString: "avc1", config: "", timescale: 1000 } as const;
  const rendition = { rendition: "source", track, segments: rows, spanBytes: new Map() };
  const index = { id: "session-1", projectId: "project-1", keyPrefix: "", renditions: [rendition] };
  const store = { read: () => Promise.reject(new Error("nothing is read")) };
  const media = await OpenMedia.open(new StoredMedia(index, store), new Slices(new ManualClock()));
  return media.renditions.get("source")?.bitrates.peak;
}

test("one picture with which a broadcast ends is not taken for the bitrate of its recording", async () => {
  expect(await peakOf([500_000, 2000], [500_000, 2000], [100_000, 40])).toBe(Math.ceil((600_000 * 8) / 2.04));
});

test("the peak is that of the largest segment, of several short ones, or of all where there is no more", async () => {
  expect(await peakOf([500_000, 2000], [750_000, 2000], [500_000, 2000])).toBe(3_000_000);
  expect(await peakOf([250_000, 2000], [250_000, 500], [250_000, 500], [250_000, 2000])).toBe(4_000_000);
  expect(await peakOf([100_000, 200])).toBe(4_000_000);
});

test("pictures that begin behind a discontinuity have its number, as the sound that was there before them has", async () => {
  const common = { epoch: 1, span: "1-1.m4s", init: "init-0.mp4", offset: 0, length: 100, durationTicks: 2000 };
  const rowsFrom = (first: number) =>
    [1, 2, 3, 4].slice(first - 1).map((msn): StoredSegment => {
      const when = { msn, startTicks: msn * 2000, programDateTimeMs: msn * 2000 };
      return { ...common, ...when, discontinuity: msn === 3, gap: false };
    });
  const track = { kind: "video", codec: "avc", codecString: "avc1", config: "", timescale: 1000 } as const;
  const renditions = [
    { rendition: "source", track, segments: rowsFrom(3), spanBytes: new Map() },
    { rendition: "audio", track, segments: rowsFrom(1), spanBytes: new Map() },
  ];
  const store = { read: () => Promise.reject(new Error("nothing is read")) };
  const index = { id: "session-1", projectId: "project-1", keyPrefix: "", renditions };
  const media = await OpenMedia.open(new StoredMedia(index, store), new Slices(new ManualClock()));
  const numberAtEnd = async (name: string): Promise<number> => {
    const coded = await (await media.renditions.get(name)?.playlist())?.in(null);
    const text = Buffer.from(coded?.bytes ?? []).toString();
    const before = Number(/#EXT-X-DISCONTINUITY-SEQUENCE:(\d+)/.exec(text)?.[1] ?? 0);
    return before + (text.match(/^#EXT-X-DISCONTINUITY$/gm)?.length ?? 0);
  };
  expect([await numberAtEnd("audio"), await numberAtEnd("source")]).toEqual([1, 1]);
});
