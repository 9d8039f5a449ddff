import type { IncomingMessage, ServerResponse } from "node:http";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, test } from "vitest";
import { ManualClock } from "../../../platform/clock.ts";
import { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { ObjectStore } from "../../../platform/storage/object-store.ts";
import type { MediaIndex, PlaybackGate, StoredContent, StoredSegment } from "../../../ports/index.ts";
import { SHARED } from "../answers/media-response.ts";
import { ArchiveDelivery } from "./archive-delivery.ts";

/** Two days of five renditions have some more. */
const LONG = 200_000;

function start() {
  const clock = new ManualClock();
  const asked: string[] = [];
  const reading = { now: 0, most: 0 };
  const mediaIndex = async ({ id, projectId }: StoredContent): Promise<MediaIndex> => {
    asked.push(id);
    reading.most = Math.max(reading.most, ++reading.now);
    await turnOfTheLoop();
    reading.now--;
    if (id.startsWith("unreadable")) throw new Error("the database is away");
    const segment: StoredSegment = {
      epoch: 1,
      msn: 0,
      init: "init",
      span: "span",
      offset: 0,
      length: 1,
      startTicks: 0,
      durationTicks: 1,
      programDateTimeMs: 0,
      discontinuity: false,
      gap: false,
    };
    const count = id.startsWith("long") ? LONG : 1;
    const track = { kind: "video", codec: "avc", codecString: "avc1", config: "", timescale: 1 } as const;
    const renditions = [
      { rendition: "source", track, segments: Array<StoredSegment>(count).fill(segment), spanBytes: new Map() },
    ];
    const isGrowing = id.startsWith("growing");
    return { id, projectId, keyPrefix: "v1/project-1/rec/", renditions, isGrowing };
  };
  const delivery = new ArchiveDelivery({
    clock,
    playbackGate: { mediaIndex } as PlaybackGate,
    store: {} as ObjectStore,
    proxies: new TrustedProxies([]),
    maxReads: 10,
  });
  const play = async (sessionId: string): Promise<number> => {
    const before = asked.length;
    const res = { writeHead: () => {}, end: () => {} } as unknown as ServerResponse;
    const address = { kind: "multivariant", playbackId: "recording1" } as const;
    const req = {} as IncomingMessage;
    await delivery.serve(
      { kind: "recording", id: sessionId, projectId: "project-1" },
      {
        req,
        res,
        address,
        caching: SHARED,
        begin: () => ({ token: "-", playerId: null, stillAllowed: async () => true }),
      },
    );
    return asked.length - before;
  };
  return { clock, play, reading };
}

test("indexes are kept for a minute, and asked for again after it", async () => {
  const { clock, play } = start();
  expect([await play("short"), await play("short")]).toEqual([1, 0]);
  clock.advance(60_000);
  expect([await play("short"), await play("short")]).toEqual([1, 0]);
});

test("an index that grows is asked for again after two seconds", async () => {
  const { clock, play } = start();
  expect([await play("growing"), await play("growing")]).toEqual([1, 0]);
  clock.advance(2_000);
  expect(await play("growing")).toBe(1);
});

test("long recordings push one another out, however few they are; short ones stay beside one", async () => {
  const { play } = start();
  expect([await play("short"), await play("long-1"), await play("long-1"), await play("short")]).toEqual([1, 1, 0, 0]);
  expect([await play("long-2"), await play("short"), await play("long-2")]).toEqual([1, 0, 0]);
  expect(await play("long-1")).toBe(1);
});

test("an index is read by one caller while the others wait", async () => {
  const { play } = start();
  const asked = await Promise.all(Array.from({ length: 20 }, () => play("short")));
  expect(Math.max(...asked)).toBe(1);
});

test("recordings that are opened at once beyond a hundred wait for their turn, also behind some that fail", async () => {
  const { play, reading } = start();
  const unreadable = Array.from({ length: 150 }, (_, n) => play(`unreadable-${n}`));
  const readable = Array.from({ length: 150 }, (_, n) => play(`short-${n}`));
  const outcomes = (await Promise.allSettled([...unreadable, ...readable])).map(({ status }) => status);
  expect(outcomes).toEqual([...Array(150).fill("rejected"), ...Array(150).fill("fulfilled")]);
  expect(reading.most).toBe(100);
});
