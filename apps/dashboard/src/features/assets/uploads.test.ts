import type { SourceProgress } from "@weir/client";
import { expect, test } from "vitest";
import { isOver, secondsLeft, Uploads } from "./uploads.ts";

const file = (name: string) => new File(["12345"], name);

/** Uploads whose progress the test tells. */
function start() {
  const told: ((progress: readonly SourceProgress[]) => void)[] = [];
  const calls: string[] = [];
  let now = 0;
  const uploads = new Uploads(
    (sources, { onProgress }) => {
      calls.push(sources.map(({ name, playbackPolicy }) => `${name} ${playbackPolicy?.type}`).join());
      told.push(onProgress ?? (() => {}));
      return { pause: () => calls.push("pause"), resume: () => calls.push("resume") };
    },
    () => now,
  );
  return { uploads, told, calls, advance: (ms: number) => (now += ms), now: () => now };
}

test("files of several drops are listed in their order, each with its own progress", () => {
  const { uploads, told, calls } = start();
  uploads.add([file("a"), file("b")], { playbackPolicy: { type: "jwt" } });
  uploads.add([file("c")], { playbackPolicy: { type: "public" } });
  uploads.add([], { playbackPolicy: { type: "public" } });
  expect(calls).toEqual(["a jwt,b jwt", "c public"]);
  told[0]?.([{ phase: "waiting" }, { phase: "uploading", progress: 0.5 }]);
  told[1]?.([{ phase: "failed", error: new Error("no video") }]);
  const shown = uploads.view().uploads.map(({ name, size, progress }) => [name, size, progress.phase]);
  expect(shown).toEqual([
    ["a", 5, "waiting"],
    ["b", 5, "uploading"],
    ["c", 5, "failed"],
  ]);
});

test("a pause holds every drop, also those to come, until it is over", () => {
  const { uploads, calls } = start();
  uploads.add([file("a")], { playbackPolicy: { type: "public" } });
  uploads.pause();
  uploads.add([file("b")], { playbackPolicy: { type: "public" } });
  expect(uploads.view().isPaused).toBe(true);
  uploads.resume();
  expect(uploads.view().isPaused).toBe(false);
  expect(calls).toEqual(["a public", "pause", "b public", "pause", "resume", "resume"]);
});

test("the time left follows the speed since the upload began or went on", () => {
  const { uploads, told, advance, now } = start();
  const left = () => secondsLeft(uploads.view().uploads[0] as never, now());
  uploads.add([file("a")], { playbackPolicy: { type: "public" } });
  told[0]?.([{ phase: "uploading", progress: 0.2 }]);
  expect(left()).toBe(null);
  advance(10_000);
  told[0]?.([{ phase: "uploading", progress: 0.4 }]);
  expect(left()).toBeCloseTo(30);
  uploads.pause();
  expect(left()).toBe(null);
});

test("what is ready or failed can be cleared away", () => {
  const { uploads, told } = start();
  uploads.add([file("a"), file("b"), file("c")], { playbackPolicy: { type: "public" } });
  told[0]?.([
    { phase: "processing", progress: 1 },
    { phase: "failed", error: new Error("no") },
    { phase: "processing", progress: 0.9 },
  ]);
  expect(uploads.view().uploads.map(isOver)).toEqual([true, true, false]);
  uploads.clear();
  expect(uploads.view().uploads.map(({ name }) => name)).toEqual(["c"]);
});
