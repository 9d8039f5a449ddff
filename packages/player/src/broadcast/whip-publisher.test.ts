import { expect, onTestFinished, test, vi } from "vitest";
import { broadcastStrings as text } from "./broadcast-strings.ts";
import { publishMedia, relaysIn } from "./whip-publisher.ts";

test("the relays of an answer are those that its Link header names, and no STUN server", () => {
  const relay =
    '<turn:t.test:3478?transport=tcp>; rel="ice-server"; username="9:a"; credential="c="; credential-type="password"';
  expect(relaysIn(`<stun:s.test:3478>; rel="ice-server", ${relay}`)).toEqual([
    { urls: "turn:t.test:3478?transport=tcp", username: "9:a", credential: "c=" },
  ]);
  expect([relaysIn(null), relaysIn("<https://t.test>; rel=ice-server")]).toEqual([[], []]);
});

/** A browser's connection of which the test says how it goes. */
class FakePeer extends EventTarget {
  static readonly made: FakePeer[] = [];
  readonly iceGatheringState = "complete";
  readonly localDescription = { sdp: "v=0\r\n" };
  readonly iceServers: readonly RTCIceServer[];
  connectionState = "connecting";

  constructor({ iceServers = [] }: RTCConfiguration) {
    super();
    this.iceServers = iceServers;
    FakePeer.made.push(this);
  }

  async setLocalDescription(): Promise<void> {}
  async setRemoteDescription(): Promise<void> {}
  close(): void {}

  enter(connectionState: string): void {
    this.connectionState = connectionState;
    this.dispatchEvent(new Event("connectionstatechange"));
  }
}

function publish(link?: string) {
  FakePeer.made.length = 0;
  vi.stubGlobal("RTCPeerConnection", FakePeer);
  vi.stubGlobal("fetch", async (url: string | URL) => {
    if (String(url).endsWith("/end")) return new Promise(() => {});
    const headers = { location: "/webrtc/key/r", ...(link !== undefined && { link }) };
    return Object.defineProperty(new Response("v=0", { status: 201, headers }), "url", { value: "https://w.test/" });
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const abort = new AbortController();
  onTestFinished(() => {
    abort.abort();
    vi.useRealTimers();
  });
  const told: [string, string | null][] = [];
  const onState = (state: string, problem: string | null) => void told.push([state, problem]);
  const media = { getTracks: () => [] } as unknown as MediaStream;
  publishMedia(media, "https://w.test/webrtc/key", { onState, onFigures: () => {} }, abort.signal);
  return told;
}

test("a connection that never came about says what may block it, one that was lost does not", async () => {
  const told = publish();
  await vi.advanceTimersByTimeAsync(100);
  FakePeer.made[0]?.enter("failed");
  await vi.advanceTimersByTimeAsync(1000);
  FakePeer.made[1]?.enter("connected");
  FakePeer.made[1]?.enter("disconnected");
  expect(told).toEqual([
    ["connecting", null],
    ["reconnecting", text.unreached],
    ["live", null],
    ["reconnecting", null],
  ]);
});

test("a broadcast that UDP does not carry goes on by relays at once, and is never said to be lost", async () => {
  const told = publish('<turn:t.test:3478>; rel="ice-server"; username="u"; credential="c"');
  await vi.advanceTimersByTimeAsync(2500);
  expect(FakePeer.made.map(({ iceServers }) => iceServers.length)).toEqual([0, 1]);
  FakePeer.made[1]?.enter("connected");
  expect(told).toEqual([
    ["connecting", null],
    ["live", null],
  ]);
});

test("a broadcast that relays do not carry either says what may block it, to its end", async () => {
  const told = publish('<turn:t.test:3478>; rel="ice-server"; username="u"; credential="c"');
  await vi.advanceTimersByTimeAsync(5000);
  expect(told).toEqual([
    ["connecting", null],
    ["reconnecting", text.unreached],
  ]);
  await vi.advanceTimersByTimeAsync(100_000);
  expect(FakePeer.made.map(({ iceServers }) => iceServers.length)).toEqual([0, ...Array(20).fill(1)]);
  expect(told.at(-1)).toEqual(["failed", text.unreached]);
});
