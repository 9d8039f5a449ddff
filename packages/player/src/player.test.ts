// @vitest-environment happy-dom
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
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
  source = "";
  isDestroyed = false;
  readonly #listeners = new Map<string, Listener>();

  constructor() {
    FakeHls.made.push(this);
  }

  on(event: string, listener: Listener): void {
    this.#listeners.set(event, listener);
  }

  tell(event: keyof typeof FakeHls.Events, data: Record<string, unknown> = {}): void {
    this.#listeners.get(FakeHls.Events[event])?.(event, data);
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
