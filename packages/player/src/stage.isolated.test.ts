// @vitest-environment happy-dom
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { Credentials } from "./credentials.ts";
import type { PlayerListener, PlayerOptions } from "./player.ts";
import { Stage, type StageState, stateOf } from "./stage.ts";
import type { VideoInfo } from "./video-state.ts";

const mounted = vi.hoisted(
  () =>
    [] as { options: PlayerOptions; listener: PlayerListener; signal: AbortSignal; moveTo: (src: string) => void }[],
);
vi.mock("./player.ts", () => ({
  mountPlayer: (_place: unknown, options: PlayerOptions, listener: PlayerListener, signal: AbortSignal) => {
    const player = { options, listener, signal, moveTo: vi.fn(), goLive: vi.fn() };
    mounted.push(player);
    return player;
  },
}));

/** What the server tells of the video. */
let answer: object;

beforeEach(() => {
  mounted.length = 0;
  answer = live();
  vi.stubGlobal("fetch", async () => Response.json(answer));
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "Date", "performance"] });
  return () => vi.useRealTimers();
});

const live = (isLive: 0 | 1 = 1, type = "public") => ({
  type: "live",
  meta: { live: isLive, playbackPolicy: { type }, poster: "https://other.test/hls/abc/thumbnail.jpg" },
});

function open(credentials = new Credentials()) {
  const place = document.createElement("div").attachShadow({ mode: "open" });
  const states: StageState[] = [];
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const options = { server: "https://w.test", playbackId: "abc", credentials, player: { label: "Stage" } };
  const onState = (state: StageState) => void states.push(state);
  const stage = new Stage(place, options, { onState }, abort.signal);
  return { place, states, stage, words: () => place.querySelector("p")?.textContent };
}

const settled = () => vi.advanceTimersByTimeAsync(0);
const again = () => vi.advanceTimersByTimeAsync(6000);

it("says that a stream is offline, plays it once it is live, and says that it has ended", async () => {
  answer = live(0);
  const { place, states, words } = open();
  await settled();
  expect(words()).toBe("This stream is offline. It starts here as soon as the broadcast begins.");
  expect(place.querySelector("img")?.src).toBe("https://w.test/hls/abc/thumbnail.jpg?width=1280");
  answer = live(1);
  await again();
  expect(mounted[0]?.options).toMatchObject({ src: "https://w.test/hls/abc/index.m3u8", live: true, label: "Stage" });
  answer = live(0);
  mounted[0]?.listener.onEnded?.();
  await settled();
  expect(words()).toBe("The broadcast has ended. The next one starts here.");
  expect(mounted[0]?.signal.aborted).toBe(true);
  expect(states).toEqual(["loading", "offline", "playing", "ended"]);
});

it("says that the server refused a viewer, and tries again later; no picture of a gated video is asked for", async () => {
  answer = live(1, "jwt");
  const { place, states, words } = open();
  await settled();
  mounted[0]?.listener.onDenied?.();
  await settled();
  expect([states.at(-1), words()]).toEqual(["denied", "Playback refused: this video needs a valid access token."]);
  expect(place.querySelector("img")).toBeNull();
  await again();
  expect(mounted).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(11_000);
  expect(mounted).toHaveLength(2);
});

it("asks the page for a token before the old one expires, and when it is refused, and plays on", async () => {
  answer = live(1, "jwt");
  let given = 0;
  const token = () => `h.${btoa(JSON.stringify({ exp: Date.now() / 1000 + 60, n: given++ }))}.s`;
  const tokens: string[] = [];
  const credentials = new Credentials();
  credentials.renewBy(() => {
    tokens.push(token());
    return tokens.at(-1) ?? "";
  });
  const { states } = open(credentials);
  await settled();
  const [player] = mounted;
  const addressOf = (at: number) =>
    `https://w.test/hls/abc/index.m3u8?${new URLSearchParams({ jwt: tokens[at] ?? "" })}`;
  expect(player?.options.src).toBe(addressOf(0));
  await vi.advanceTimersByTimeAsync(31_000);
  expect(player?.moveTo).toHaveBeenLastCalledWith(addressOf(1));
  await vi.advanceTimersByTimeAsync(15_000);
  player?.listener.onDenied?.();
  await settled();
  expect(player?.moveTo).toHaveBeenLastCalledWith(addressOf(2));
  expect([mounted.length, states]).toEqual([1, ["loading", "playing"]]);
});

it("renews a token of half a minute again and again, also after the page's function failed", async () => {
  answer = live(1, "jwt");
  const token = () => `h.${btoa(JSON.stringify({ exp: Date.now() / 1000 + 32 }))}.s`;
  const getToken = vi.fn<() => Promise<string>>(async () => token());
  const credentials = new Credentials();
  credentials.renewBy(getToken);
  open(credentials);
  await settled();
  const moves = () => vi.mocked(mounted[0]?.moveTo ?? (() => {})).mock.calls.length;
  await vi.advanceTimersByTimeAsync(33_000);
  expect([getToken.mock.calls.length, moves()]).toEqual([3, 2]);
  getToken.mockRejectedValueOnce(new Error("the page's server is away"));
  await vi.advanceTimersByTimeAsync(16_000);
  expect([getToken.mock.calls.length, moves()]).toEqual([4, 2]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([getToken.mock.calls.length, moves()]).toEqual([5, 3]);
});

it("plays with the credential that came last, also when it came while the server was asked", async () => {
  answer = live(1, "jwt");
  const credentials = new Credentials();
  const { stage } = open(credentials);
  credentials.give({ name: "jwt", value: "late" });
  stage.restart();
  await settled();
  expect(mounted.map(({ options }) => options.src)).toEqual(["https://w.test/hls/abc/index.m3u8?jwt=late"]);
});

it("tells that a live picture stands still, and that it moves again", async () => {
  const { states } = open();
  await settled();
  mounted[0]?.listener.onStill?.(true);
  mounted[0]?.listener.onStill?.(false);
  expect(states).toEqual(["loading", "playing", "reconnecting", "playing"]);
});

it("says that the broadcast has ended when nothing plays any more, and asks only now and then", async () => {
  const { states } = open();
  await settled();
  answer = live(0);
  mounted[0]?.listener.onProblem?.();
  await settled();
  expect(states).toEqual(["loading", "playing"]);
  await vi.advanceTimersByTimeAsync(4000);
  mounted[0]?.listener.onProblem?.();
  await settled();
  expect([states, mounted[0]?.signal.aborted]).toEqual([["loading", "playing", "ended"], true]);
});

it.each<[VideoInfo["state"], boolean, ReturnType<typeof stateOf>]>([
  ["live", false, null],
  ["recording", false, null],
  ["offline", false, "offline"],
  ["offline", true, "ended"],
  ["not-ready", false, "waiting"],
  ["not-found", true, "not-found"],
  ["unreachable", true, "unreachable"],
])("a video that is %s (was live: %s) is shown as %s", (state, wasLive, shown) => {
  const video = { state, isPublic: true, startedAt: null, viewers: null, poster: null };
  expect(stateOf(video, wasLive)).toBe(shown);
});
