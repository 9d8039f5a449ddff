import { expect, test } from "vitest";
import { VIDEO } from "../testing/synthetic-source.ts";
import { planLadder } from "./ladder-plan.ts";
import { TranscodeAdmission } from "./transcode-admission.ts";

const SOURCE = { ...VIDEO, width: 1920, height: 1080 };
const rungsAt = (fps: number) =>
  planLadder([{ name: "720p", width: 1280, height: 720, bitrate: 3_000_000, fps }], true, SOURCE);

/** Number of such ladders that fit eight cores. */
function ladders(frameRate: number | undefined, rungFps = 0): number {
  const admission = new TranscodeAdmission({ cores: 8, freeBytes: () => 1e12 });
  const source = frameRate === undefined ? SOURCE : { ...SOURCE, frameRate };
  let count = 0;
  while (typeof admission.admit(source, rungsAt(rungFps)) !== "string") count++;
  return count;
}

test("a source with 60 frames per second costs twice as much as one with 30", () => {
  expect(ladders(30)).toBe(10);
  expect(ladders(60)).toBe(5);
});

test("a source without a declared frame rate counts as 30 frames per second", () => {
  expect(ladders(undefined)).toBe(10);
});

test("a rung with its own frame rate costs accordingly", () => {
  expect(ladders(30, 15)).toBeGreaterThan(ladders(30));
});

test("a source that sends more frames than declared leaves less capacity to later ones", () => {
  const admission = new TranscodeAdmission({ cores: 1.6, freeBytes: () => 1e12 });
  const slot = admission.admit({ ...SOURCE, frameRate: 1 }, rungsAt(0));
  if (typeof slot === "string") throw new Error(slot);
  slot.measured(60);
  expect(admission.admit({ ...SOURCE, frameRate: 30 }, rungsAt(0))).toMatch(/needs about 0\.8 cores and 0\.0 of 1\.6/);
  slot.release();
  slot.measured(60);
  expect(admission.admit({ ...SOURCE, frameRate: 30 }, rungsAt(0))).toBeTypeOf("object");
});
