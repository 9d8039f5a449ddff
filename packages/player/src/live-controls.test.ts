// @vitest-environment happy-dom
import { expect, it, onTestFinished, vi } from "vitest";
import { sayWhenStill } from "./live-controls.ts";

it("says that a picture stands still after three seconds, through reloads, and that it moves again", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const video = { videoWidth: 640, frames: 0, currentTime: 0, paused: false, ended: false };
  const element = { ...video, getVideoPlaybackQuality: () => ({ totalVideoFrames: element.frames }) };
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const said: boolean[] = [];
  sayWhenStill(element as never, (isStill) => void said.push(isStill), abort.signal);
  const pass = (seconds: number, framesASecond: number) => {
    for (let half = 0; half < seconds * 2; half++) {
      element.frames += framesASecond / 2;
      vi.advanceTimersByTime(500);
    }
  };
  // Before the first picture it loads, which is another matter.
  pass(10, 0);
  pass(2, 30);
  pass(2.5, 0);
  expect(said).toEqual([]);
  // It is loaded again, and shows nothing.
  element.frames = 0;
  pass(1, 0);
  expect(said).toEqual([true]);
  pass(1, 30);
  expect(said).toEqual([true, false]);
  element.paused = true;
  pass(10, 0);
  element.paused = false;
  pass(2, 0);
  expect(said).toEqual([true, false]);
});
