// @vitest-environment happy-dom
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { Playback, type PlaybackOptions } from "./playback.ts";
import type { WebrtcFailure } from "./webrtc/webrtc-playback.ts";

const ways = vi.hoisted(() => ({
  hls: [] as {
    signal: AbortSignal;
    options: { fromMs: number | null };
    listener: { onProblem(problem: string | null): void };
  }[],
  webrtc: [] as {
    signal: AbortSignal;
    video: HTMLVideoElement;
    fail: (why: WebrtcFailure) => void;
    moveTo: (video: unknown) => void;
    isByRelay: boolean;
  }[],
}));
vi.mock("./hls-playback.ts", () => ({
  playHls: (_video: unknown, options: never, listener: never, signal: AbortSignal) => {
    ways.hls.push({ signal, options, listener });
    return { timeline: () => null, liveEdge: () => null, choose: () => {}, goTo: () => {}, moveTo: () => {} };
  },
}));
vi.mock("./webrtc/webrtc-playback.ts", () => ({
  whepAddressOf: () => "/webrtc/abc",
  playWebrtc: (video: HTMLVideoElement, _url: string, fail: () => void, signal: AbortSignal) => {
    const playing = { signal, video, fail, moveTo: vi.fn(), isByRelay: false };
    ways.webrtc.push(playing);
    return playing;
  },
}));

/** What the server has at the HLS address. */
let playlist = "#EXTM3U\n";

beforeEach(() => {
  playlist = "#EXTM3U\n";
  ways.hls.length = 0;
  ways.webrtc.length = 0;
  vi.stubGlobal("RTCPeerConnection", class {});
  vi.stubGlobal("fetch", async () => new Response(playlist));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"] });
  return () => vi.useRealTimers();
});

function open(options: Partial<PlaybackOptions> = {}) {
  const video = document.createElement("video");
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const told: [string, string | null][] = [];
  const figures: unknown[] = [];
  const listener = {
    ...{
      onFigures: (each: unknown) => void figures.push(each),
      onProblem: () => {},
      onQualities: () => {},
      onShown: () => {},
    },
    onWay: (way: string, failure: string | null) => void told.push([way, failure]),
  };
  const playback = new Playback(video, { src: "/a", live: true, ...options }, listener, abort.signal);
  return { video, playback, told, figures };
}

const race = () => open({ isLowLatency: true });

function picture(video: HTMLVideoElement | undefined): void {
  if (video) Object.defineProperty(video, "videoWidth", { value: 640 });
  video?.dispatchEvent(new Event("loadeddata"));
}

it("WebRTC that shows a picture within a second plays, and HLS is never asked for", () => {
  const { video, playback, told } = race();
  picture(ways.webrtc[0]?.video);
  vi.advanceTimersByTime(5000);
  expect(ways.webrtc[0]?.moveTo).toHaveBeenCalledWith(video);
  expect([ways.hls.length, playback.isRealTime, told]).toEqual([0, true, [["webrtc", null]]]);
});

it("HLS starts a second later, and the first picture decides", () => {
  const { video, playback, told } = race();
  vi.advanceTimersByTime(999);
  expect(ways.hls).toHaveLength(0);
  vi.advanceTimersByTime(1);
  expect(ways.hls).toHaveLength(1);
  picture(video);
  expect(ways.webrtc[0]?.signal.aborted).toBe(false);
  picture(ways.webrtc[0]?.video);
  expect([ways.webrtc[0]?.signal.aborted, ways.hls[0]?.signal.aborted]).toEqual([true, false]);
  expect([playback.isRealTime, told]).toEqual([false, [["hls", null]]]);

  const other = race();
  vi.advanceTimersByTime(1000);
  picture(ways.webrtc[1]?.video);
  picture(other.video);
  expect([ways.webrtc[1]?.signal.aborted, ways.hls[1]?.signal.aborted, other.playback.isRealTime]).toEqual([
    ...[false, true, true],
  ]);
});

it("the end of a connection that brought nothing is no picture, whatever the browser says", () => {
  const { playback, told } = race();
  ways.webrtc[0]?.video.dispatchEvent(new Event("loadeddata"));
  expect([playback.isRealTime, told]).toEqual([true, []]);
  vi.advanceTimersByTime(1000);
  expect(ways.hls).toHaveLength(1);
});

it("HLS starts another second later while relays are tried", () => {
  const { playback, told } = race();
  const [webrtc] = ways.webrtc;
  if (webrtc) webrtc.isByRelay = true;
  vi.advanceTimersByTime(1999);
  expect(ways.hls).toHaveLength(0);
  vi.advanceTimersByTime(1);
  expect(ways.hls).toHaveLength(1);
  picture(webrtc?.video);
  expect([playback.isRealTime, told]).toEqual([true, [["webrtc", null]]]);
});

it("HLS plays at once where WebRTC fails, before its picture or after, with the reason", () => {
  const { playback, told } = race();
  ways.webrtc[0]?.fail("blocked");
  expect([ways.hls.length, playback.isRealTime, told]).toEqual([1, false, [["hls", "blocked"]]]);
  vi.advanceTimersByTime(5000);
  expect(ways.hls).toHaveLength(1);

  const other = race();
  picture(ways.webrtc[1]?.video);
  ways.webrtc[1]?.fail("no-picture");
  expect(ways.webrtc[1]?.signal.aborted).toBe(true);
  expect([ways.hls.length, other.told]).toEqual([
    2,
    [
      ["webrtc", null],
      ["hls", "no-picture"],
    ],
  ]);
});

it("names what blocks WebRTC also when HLS was faster, and ends that try when the viewer asks for real time", () => {
  const { video, playback, told } = race();
  vi.advanceTimersByTime(1000);
  picture(video);
  ways.webrtc[0]?.fail("blocked");
  expect([ways.webrtc[0]?.signal.aborted, ways.hls.length, playback.isRealTime]).toEqual([true, 1, false]);
  expect(told).toEqual([
    ["hls", null],
    ["hls", "blocked"],
  ]);

  const other = race();
  vi.advanceTimersByTime(1000);
  picture(other.video);
  other.playback.playRealTime();
  expect(ways.webrtc.slice(1).map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

it("a viewer in real time who goes back gets HLS from that moment on", () => {
  const { playback } = race();
  picture(ways.webrtc[0]?.video);
  playback.goTo(1_700_000_000_000);
  expect([ways.webrtc[0]?.signal.aborted, ways.hls[0]?.options.fromMs]).toEqual([true, 1_700_000_000_000]);
});

it("WebRTC plays where HLS does not, with the reason, and is tried again while HLS has a problem", () => {
  const { video, playback, told } = open();
  expect(ways.webrtc).toHaveLength(0);
  ways.hls[0]?.listener.onProblem("Could not load the video.");
  ways.hls[0]?.listener.onProblem("Could not load the video.");
  expect(ways.webrtc).toHaveLength(1);
  // One that is not there either says nothing of its own.
  ways.webrtc[0]?.fail("refused");
  ways.hls[0]?.listener.onProblem("Could not load the video.");
  expect([ways.webrtc.length, ways.hls.length, told]).toEqual([1, 1, []]);
  vi.advanceTimersByTime(15_000);
  ways.hls[0]?.listener.onProblem("Could not load the video.");
  picture(ways.webrtc[1]?.video);
  expect(ways.webrtc[1]?.moveTo).toHaveBeenCalledWith(video);
  expect([playback.isRealTime, ways.hls[0]?.signal.aborted, told]).toEqual([true, true, [["webrtc", "no-hls"]]]);
});

it("HLS that plays before WebRTC does goes on; one who has gone back is left there", () => {
  const { video, playback, told } = open();
  ways.hls[0]?.listener.onProblem("Could not load the video.");
  picture(video);
  picture(ways.webrtc[0]?.video);
  expect([ways.webrtc[0]?.signal.aborted, playback.isRealTime, told]).toEqual([true, false, [["hls", null]]]);
  vi.advanceTimersByTime(60_000);
  playback.goTo(Date.now() - 60_000);
  ways.hls[0]?.listener.onProblem("Could not load the video.");
  expect(ways.webrtc).toHaveLength(1);
});

it("viewers can go back where WebRTC was faster than the playlist that says how far", async () => {
  const since = Date.now() - 60_000;
  playlist = `#EXTM3U\n#EXT-X-SESSION-DATA:DATA-ID="weir.dvr",VALUE="since=${since},seconds=3600"\n`;
  const { playback, figures } = race();
  picture(ways.webrtc[0]?.video);
  await vi.advanceTimersByTimeAsync(1000);
  const now = Date.now();
  expect(playback.timeline()).toEqual({ sinceMs: since, atMs: now, edgeMs: now });
  // The bar follows the figures.
  expect(figures).toHaveLength(2);
  playlist = "#EXTM3U\n";
  const other = race();
  picture(ways.webrtc[1]?.video);
  await vi.advanceTimersByTimeAsync(1000);
  expect(other.playback.timeline()).toBeNull();
});
