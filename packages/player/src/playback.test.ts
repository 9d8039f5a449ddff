// @vitest-environment happy-dom
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { Playback } from "./playback.ts";

const ways = vi.hoisted(() => ({
  hls: [] as { signal: AbortSignal; options: { fromMs: number | null } }[],
  webrtc: [] as { signal: AbortSignal; video: HTMLVideoElement; fail: () => void; moveTo: (video: unknown) => void }[],
}));
vi.mock("./hls-playback.ts", () => ({
  playHls: (_video: unknown, options: { fromMs: number | null }, _listener: unknown, signal: AbortSignal) => {
    ways.hls.push({ signal, options });
    return { timeline: () => null, liveEdge: () => null, choose: () => {}, goTo: () => {}, moveTo: () => {} };
  },
}));
vi.mock("./webrtc/webrtc-playback.ts", () => ({
  whepAddressOf: () => "/webrtc/abc",
  playWebrtc: (video: HTMLVideoElement, _url: string, fail: () => void, signal: AbortSignal) => {
    const moveTo = vi.fn();
    ways.webrtc.push({ signal, video, fail, moveTo });
    return { moveTo };
  },
}));

beforeEach(() => {
  ways.hls.length = 0;
  ways.webrtc.length = 0;
  vi.stubGlobal("RTCPeerConnection", class {});
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  return () => vi.useRealTimers();
});

function race() {
  const video = document.createElement("video");
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const told: [string, boolean][] = [];
  const listener = {
    ...{ onFigures: () => {}, onProblem: () => {}, onQualities: () => {}, onShown: () => {} },
    onWay: (way: string, hasFailed: boolean) => void told.push([way, hasFailed]),
  };
  const playback = new Playback(video, { src: "/a", live: true, isLowLatency: true }, listener, abort.signal);
  return { video, playback, told };
}

const picture = (video: HTMLVideoElement | undefined) => video?.dispatchEvent(new Event("loadeddata"));

it("WebRTC that shows a picture within a second plays, and HLS is never asked for", () => {
  const { video, playback, told } = race();
  picture(ways.webrtc[0]?.video);
  vi.advanceTimersByTime(5000);
  expect(ways.webrtc[0]?.moveTo).toHaveBeenCalledWith(video);
  expect([ways.hls.length, playback.isRealTime, told]).toEqual([0, true, [["webrtc", false]]]);
});

it("HLS starts a second later, and the first picture decides", () => {
  const { video, playback, told } = race();
  vi.advanceTimersByTime(999);
  expect(ways.hls).toHaveLength(0);
  vi.advanceTimersByTime(1);
  expect(ways.hls).toHaveLength(1);
  picture(video);
  picture(ways.webrtc[0]?.video);
  expect([ways.webrtc[0]?.signal.aborted, ways.hls[0]?.signal.aborted]).toEqual([true, false]);
  expect([playback.isRealTime, told]).toEqual([false, [["hls", false]]]);

  const other = race();
  vi.advanceTimersByTime(1000);
  picture(ways.webrtc[1]?.video);
  picture(other.video);
  expect([ways.webrtc[1]?.signal.aborted, ways.hls[1]?.signal.aborted, other.playback.isRealTime]).toEqual([
    ...[false, true, true],
  ]);
});

it("HLS plays at once where WebRTC fails, before its picture or after, with the reason", () => {
  const { playback, told } = race();
  ways.webrtc[0]?.fail();
  expect([ways.hls.length, playback.isRealTime, told]).toEqual([1, false, [["hls", true]]]);
  vi.advanceTimersByTime(5000);
  expect(ways.hls).toHaveLength(1);

  const other = race();
  picture(ways.webrtc[1]?.video);
  ways.webrtc[1]?.fail();
  expect(ways.webrtc[1]?.signal.aborted).toBe(true);
  expect([ways.hls.length, other.told]).toEqual([
    2,
    [
      ["webrtc", false],
      ["hls", true],
    ],
  ]);
});

it("a viewer in real time who goes back gets HLS from that moment on", () => {
  const { playback } = race();
  picture(ways.webrtc[0]?.video);
  playback.goTo(1_700_000_000_000);
  expect([ways.webrtc[0]?.signal.aborted, ways.hls[0]?.options.fromMs]).toEqual([true, 1_700_000_000_000]);
});
