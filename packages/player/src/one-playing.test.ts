import { expect, test } from "vitest";
import { isAnotherPlaying, joinOnePlaying } from "./one-playing.ts";

class FakeVideo extends EventTarget {
  paused = true;

  play(): void {
    this.paused = false;
    this.dispatchEvent(new Event("play"));
  }

  pause(): void {
    this.paused = true;
  }
}

test("playing a recording pauses the live picture, and the other way round", () => {
  const [live, recording, page] = [new FakeVideo(), new FakeVideo(), new AbortController()];
  joinOnePlaying(live, page.signal);
  joinOnePlaying(recording, page.signal);
  live.play();
  expect([isAnotherPlaying(recording), isAnotherPlaying(live)]).toEqual([true, false]);
  recording.play();
  expect([live.paused, recording.paused]).toEqual([true, false]);
  live.play();
  expect([live.paused, recording.paused]).toEqual([false, true]);
  page.abort();
});

test("a video that has left the page neither pauses nor counts", () => {
  const [left, stays, gone, page] = [new FakeVideo(), new FakeVideo(), new AbortController(), new AbortController()];
  joinOnePlaying(left, gone.signal);
  joinOnePlaying(stays, page.signal);
  left.play();
  gone.abort();
  expect(isAnotherPlaying(stays)).toBe(false);
  stays.play();
  left.play();
  expect(stays.paused).toBe(false);
  page.abort();
});
