import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { reportPlayback } from "./playback-report.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start() {
  const sent: { session_id: string; playback_id: string; events: Record<string, unknown>[] }[] = [];
  const video = Object.assign(new EventTarget(), { paused: false, seeking: false });
  const abort = new AbortController();
  const report = reportPlayback(
    video,
    { playbackId: "abcd", now: () => Date.now(), send: (body) => void sent.push(JSON.parse(body)) },
    abort.signal,
  );
  const happens = (event: string, ms: number) => {
    video.dispatchEvent(new Event(event));
    vi.advanceTimersByTime(ms);
  };
  return { sent, video, report, happens, abort };
}

test("the first picture, the time played and the time waited are told every ten seconds", () => {
  const { sent, happens } = start();
  vi.advanceTimersByTime(300);
  happens("playing", 6_000);
  happens("waiting", 500);
  happens("playing", 3_200);
  expect(sent).toMatchObject([
    {
      playback_id: "abcd",
      events: [{ type: "heartbeat", play_to_first_frame_ms: 300, time_playing_ms: 9_200, time_waiting_ms: 500 }],
    },
  ]);
  vi.advanceTimersByTime(10_000);
  expect(sent[1]?.events[0]).toMatchObject({ time_playing_ms: 10_000, time_waiting_ms: 0 });
  expect(sent[1]?.events[0]).not.toHaveProperty("play_to_first_frame_ms");
  expect(sent[1]?.session_id).toBe(sent[0]?.session_id);
});

test("the wait before the first picture, a pause and a seek are no waiting for data", () => {
  const { sent, video, happens } = start();
  happens("waiting", 2_000);
  happens("playing", 1_000);
  happens("pause", 2_000);
  happens("playing", 1_000);
  video.seeking = true;
  happens("waiting", 4_000);
  expect(sent[0]?.events[0]).toMatchObject({ time_playing_ms: 2_000, time_waiting_ms: 0 });
});

test("an error is told once, and the rest when playback ends", () => {
  const { sent, report, happens, abort } = start();
  happens("playing", 1_000);
  report.fail();
  abort.abort();
  expect(sent[0]?.events).toMatchObject([{ time_playing_ms: 1_000 }, { type: "error" }]);
  vi.advanceTimersByTime(60_000);
  expect(sent).toHaveLength(1);
});

test("a page on plain HTTP, where browsers have no crypto.randomUUID, is reported of too", () => {
  vi.stubGlobal("crypto", { getRandomValues: (bytes: Uint8Array) => bytes.fill(7) });
  const { sent, happens } = start();
  happens("playing", 10_000);
  expect(sent[0]?.session_id).toBe("07".repeat(16));
});
