// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { mountPlayer } from "./player.ts";

type Listener = (event: string, data: Record<string, unknown>) => void;

/** hls.js as the player uses it: it loads nothing, and the test says what happened. */
class FakeHls {
  static readonly Events = {
    ERROR: "error",
    MANIFEST_PARSED: "parsed",
    LEVELS_UPDATED: "levels",
    LEVEL_SWITCHED: "switched",
    LEVEL_UPDATED: "updated",
    LEVEL_LOADED: "loaded",
  };
  static isThere = true;
  static readonly made: FakeHls[] = [];
  static isSupported = (): boolean => FakeHls.isThere;
  readonly levels = [1080, 360].map((height) => ({
    height,
    width: (height * 16) / 9,
    bitrate: height * 1000,
    name: "",
  }));
  nextLevel = -1;
  playingDate: Date | null = null;
  liveSyncPosition: number | null = null;
  latestLevelDetails: unknown = null;
  readonly startLoad = vi.fn();
  source = "";
  isDestroyed = false;
  readonly #listeners = new Map<string, Listener[]>();

  readonly config: { readonly startPosition: number; readonly lowLatencyMode: boolean };

  constructor(config: FakeHls["config"]) {
    this.config = config;
    FakeHls.made.push(this);
  }

  on(event: string, listener: Listener): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  once(event: string, listener: Listener): void {
    this.on(event, listener);
  }

  tell(event: keyof typeof FakeHls.Events, data: Record<string, unknown> = {}): void {
    for (const listener of this.#listeners.get(FakeHls.Events[event]) ?? []) listener(event, data);
  }

  loadSource(source: string): void {
    this.source = source;
  }

  attachMedia(): void {}

  destroy(): void {
    this.isDestroyed = true;
  }
}

vi.mock("hls.js", () => ({ default: FakeHls }));

beforeEach(() => {
  // happy-dom has no constructor by this name.
  vi.stubGlobal("Option", function option(text: string, value: string, _: boolean, selected: boolean) {
    return Object.assign(document.createElement("option"), { text, value, selected });
  });
  FakeHls.isThere = true;
  FakeHls.made.length = 0;
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
  return () => vi.useRealTimers();
});

const SRC = "/hls/abc/index.m3u8";

/** A player that is on no page, so that the parts of media-chrome, which need a browser's layout, stay asleep. */
function open(live = true) {
  const place = document.createElement("div");
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const player = mountPlayer(place, { src: SRC, live, label: "The picture" }, {}, abort.signal);
  const part = (selector: string) => place.querySelector<HTMLElement>(selector) ?? expect.fail(`no ${selector}`);
  return { place, player, abort, part, video: part("video") as HTMLVideoElement, problem: part(".w-player-problem") };
}

/** Resolves with the player that loads, once there are this many. */
async function playing(count = 1): Promise<FakeHls> {
  await vi.waitUntil(() => FakeHls.made.length === count, { timeout: 10_000 });
  return FakeHls.made[count - 1] ?? expect.fail("no player");
}

it("says that it waits until the first picture", async () => {
  const { part, video } = open();
  await playing();
  expect(part(".w-player-loading").hidden).toBe(false);
  video.dispatchEvent(new Event("loadeddata"));
  expect(part(".w-player-loading").hidden).toBe(true);
});

it.each([
  ["a refusal", { response: { code: 401 } }, /needs a valid access token/],
  ["a format", { type: "mediaError" }, /cannot decode/],
  ["a network", { type: "networkError" }, /Could not load the video. Retrying…/],
])(
  "names the failure of %s, loads again after two seconds, and takes it back when the video plays",
  async (_, data, sentence) => {
    const { part, video, problem } = open();
    const first = await playing();
    first.tell("ERROR", { fatal: false, ...data });
    expect(problem.hidden).toBe(true);
    first.tell("ERROR", { fatal: true, ...data });
    expect([problem.hidden, part(".w-player-loading").hidden]).toEqual([false, true]);
    expect(problem.textContent).toMatch(sentence);
    vi.advanceTimersByTime(1999);
    expect(FakeHls.made).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect([first.isDestroyed, (await playing(2)).source]).toEqual([true, SRC]);
    video.dispatchEvent(new Event("playing"));
    expect(problem.hidden).toBe(true);
  },
);

it("offers the qualities that there are, and shows which one it chose by itself", async () => {
  const { part } = open();
  const hls = await playing();
  const menu = part(".w-player-quality") as HTMLSelectElement;
  expect(menu.hidden).toBe(true);
  hls.tell("MANIFEST_PARSED");
  const labels = () => [...menu.options].map(({ text }) => text);
  expect([menu.hidden, labels()]).toEqual([false, ["Auto", "1080p", "360p"]]);
  hls.tell("LEVEL_SWITCHED", { level: 1 });
  expect(labels()[0]).toBe("Auto (360p)");
  menu.value = menu.options[1]?.value ?? "";
  menu.dispatchEvent(new Event("change"));
  expect(hls.nextLevel).toBe(0);
});

describe("a live stream that viewers can go back in", () => {
  /** The first moment. */
  const SINCE = 1_700_000_000_000;

  /** Plays at its edge, a minute after its begin. */
  async function atTheEdge() {
    const opened = open();
    const hls = await playing();
    hls.tell("MANIFEST_PARSED", { sessionData: { "weir.dvr": { VALUE: `since=${SINCE},seconds=86400` } } });
    Object.assign(hls, { playingDate: new Date(SINCE + 60_000), liveSyncPosition: 8 });
    Object.defineProperty(opened.video, "currentTime", { value: 8, writable: true });
    vi.advanceTimersByTime(500);
    const range = opened.part(".w-player-rewind") as HTMLInputElement;
    return { ...opened, hls, range, bar: opened.part(".w-player-seek"), behind: opened.part(".w-player-behind") };
  }

  const moveTo = (range: HTMLInputElement, seconds: number) => {
    range.value = String(seconds);
    for (const event of ["input", "change"]) range.dispatchEvent(new Event(event));
  };

  it("has a bar from its begin to its edge; any other has none", async () => {
    expect(open().part(".w-player-seek").hidden).toBe(true);
    await playing();
    FakeHls.made.length = 0;
    const { bar, range, behind } = await atTheEdge();
    expect([bar.hidden, range.max, range.value, behind.hidden]).toEqual([false, "60", "60", true]);
    expect(range.getAttribute("aria-valuetext")).toBe("Live");
  });

  it("plays the address that goes back from the chosen moment on, without low latency, and the live one again", async () => {
    const { range, hls, part, behind } = await atTheEdge();
    moveTo(range, 15);
    const back = await playing(2);
    expect([hls.isDestroyed, back.source]).toEqual([true, `${SRC}?dvr=1`]);
    expect(back.config).toMatchObject({ startPosition: 15, lowLatencyMode: false });
    expect([behind.hidden, behind.textContent, range.getAttribute("aria-valuetext")]).toEqual([
      ...[false, "−0:45", "0:45 behind live"],
    ]);
    part("media-controller").dispatchEvent(new Event("mediaseektoliverequest"));
    const live = await playing(3);
    expect([live.source, live.config.lowLatencyMode]).toEqual([SRC, true]);
  });

  it("begins where the moment really is, when the source was away for a while", async () => {
    const { range } = await atTheEdge();
    moveTo(range, 40);
    const back = await playing(2);
    const fragments = [
      { start: 0, duration: 10, programDateTime: SINCE },
      { start: 10, duration: 10, programDateTime: SINCE + 35_000 },
    ];
    back.tell("LEVEL_LOADED", { details: { fragments } });
    expect(back.startLoad).toHaveBeenCalledWith(15);
  });

  it("keys on the bar are one move when they come together, and a move to the edge stays live", async () => {
    const { range } = await atTheEdge();
    const press = (key: string) => range.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
    expect(press("ArrowLeft")).toBe(false);
    press("ArrowLeft");
    vi.advanceTimersByTime(300);
    expect((await playing(2)).config.startPosition).toBe(50);
    FakeHls.made.length = 0;
    const other = await atTheEdge();
    other.range.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
    vi.advanceTimersByTime(300);
    expect(FakeHls.made).toHaveLength(1);
    expect(press("a")).toBe(true);
  });

  it("follows the picture again when the thumb is let go where it was taken, or a scroll takes the finger away", async () => {
    const { range, hls } = await atTheEdge();
    const letGo = (event: string) => {
      range.value = "20";
      range.dispatchEvent(new Event("input"));
      range.value = range.max;
      range.dispatchEvent(new Event("input"));
      range.dispatchEvent(new Event(event));
      const before = Number(range.max);
      Object.assign(hls, { playingDate: new Date(SINCE + (before + 10) * 1000) });
      vi.advanceTimersByTime(500);
      return Number(range.max) - before;
    };
    expect([letGo("pointerup"), letGo("pointercancel")]).toEqual([10, 10]);
    expect(FakeHls.made).toHaveLength(1);
  });

  it("stays where viewers can seek when the broadcast has ended while one was back, up to its last moment", async () => {
    const { range, video } = await atTheEdge();
    moveTo(range, 15);
    const back = await playing(2);
    const fragments = [{ start: 0, duration: 60, programDateTime: SINCE }];
    Object.defineProperty(video, "readyState", { value: 4 });
    Object.assign(back, { latestLevelDetails: { fragments, live: false, edge: 60 } });
    video.currentTime = 15;
    vi.advanceTimersByTime(500);
    moveTo(range, 59);
    expect([FakeHls.made.length, video.currentTime]).toEqual([2, 59]);
  });

  it("goes to the first moment where picture and sound have begun, and keeps the moment when a newer token comes", async () => {
    const { range, video, player } = await atTheEdge();
    moveTo(range, 15);
    const back = await playing(2);
    const fragments = [{ start: 4, duration: 60, programDateTime: SINCE }];
    Object.defineProperty(video, "readyState", { value: 4 });
    Object.assign(back, { latestLevelDetails: { fragments, live: true, edge: 64, age: 0, targetduration: 2 } });
    video.currentTime = 19;
    vi.advanceTimersByTime(500);
    moveTo(range, 0);
    expect(video.currentTime).toBeCloseTo(4.1);
    video.currentTime = 24;
    player.moveTo(`${SRC}?jwt=newer`);
    const renewed = await playing(3);
    expect([renewed.source, renewed.config.startPosition]).toEqual([`${SRC}?jwt=newer&dvr=1`, 20]);
  });

  it("goes on where a viewer paused it, and at the edge when the viewer asks for that", async () => {
    const { video, part } = await atTheEdge();
    const pauseFor = (ms: number) => {
      video.dispatchEvent(new Event("pause"));
      vi.setSystemTime(Date.now() + ms);
      now += ms;
    };
    let now = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => now);
    pauseFor(1000);
    video.dispatchEvent(new Event("play"));
    expect(FakeHls.made).toHaveLength(1);
    pauseFor(60_000);
    Object.assign(FakeHls.made[0] ?? {}, { liveSyncPosition: 68 });
    part("media-controller").dispatchEvent(new Event("mediaseektoliverequest"));
    expect([FakeHls.made.length, video.currentTime]).toEqual([1, 68]);
    Object.assign(FakeHls.made[0] ?? {}, { playingDate: new Date(SINCE + 120_000), liveSyncPosition: 68 });
    pauseFor(60_000);
    Object.assign(FakeHls.made[0] ?? {}, { liveSyncPosition: 128 });
    video.dispatchEvent(new Event("play"));
    expect((await playing(2)).config.startPosition).toBe(120);
  });
});

it("a newer token loads the same video again", async () => {
  const { player } = open(false);
  await playing();
  player.moveTo(`${SRC}?jwt=newer`);
  expect((await playing(2)).source).toBe(`${SRC}?jwt=newer`);
});

it("says where a browser cannot play, and leaves what it can play to it", async () => {
  FakeHls.isThere = false;
  const { problem } = open();
  await vi.waitUntil(() => !problem.hidden, { timeout: 10_000 });
  expect(problem.textContent).toBe("This browser cannot play HLS.");
  vi.spyOn(HTMLMediaElement.prototype, "canPlayType").mockReturnValue("maybe");
  const safari = open();
  await vi.waitUntil(() => safari.video.getAttribute("src") === SRC, { timeout: 10_000 });
  expect(safari.problem.hidden).toBe(true);
});

it("offers real time only where the browser has WebRTC, and goes on by HLS where the server refuses it", async () => {
  expect(open().part(".w-player-realtime").hidden).toBe(true);
  await playing();
  class FakePeer extends EventTarget {
    readonly iceGatheringState = "complete";
    readonly localDescription = { sdp: "offer" };
    addTransceiver(): void {}
    async setLocalDescription(): Promise<void> {}
    close(): void {}
  }
  vi.stubGlobal("RTCPeerConnection", FakePeer);
  const ask = vi.fn(async () => new Response("no room", { status: 406 }));
  vi.stubGlobal("fetch", ask);
  const { part, problem } = open();
  const first = await playing(2);
  const button = part(".w-player-realtime");
  expect(button.hidden).toBe(false);
  button.click();
  expect([button.getAttribute("aria-pressed"), first.isDestroyed]).toEqual(["true", true]);
  await playing(3);
  expect(ask).toHaveBeenCalledWith("/webrtc/abc", expect.objectContaining({ method: "POST", body: "offer" }));
  expect(button.getAttribute("aria-pressed")).toBe("false");
  expect(problem.textContent).toBe("Real time is not available here. Playing with a few seconds of delay.");
});

it("is gone with its page", async () => {
  const { place, abort } = open();
  const hls = await playing();
  abort.abort();
  expect([hls.isDestroyed, place.childElementCount]).toEqual([true, 0]);
});
