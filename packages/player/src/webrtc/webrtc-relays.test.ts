import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { playWebrtc } from "./webrtc-playback.ts";

/** A browser's connection of which the test says whether packets arrive. */
class FakePeer extends EventTarget {
  static readonly made: FakePeer[] = [];
  readonly configuration: RTCConfiguration;
  readonly iceGatheringState = "complete";
  readonly localDescription = { sdp: "v=0\r\n" };
  iceConnectionState = "checking";
  isClosed = false;

  constructor(configuration: RTCConfiguration) {
    super();
    this.configuration = configuration;
    FakePeer.made.push(this);
  }

  addTransceiver(): void {}
  async setLocalDescription(): Promise<void> {}
  async setRemoteDescription(): Promise<void> {}

  reach(): void {
    this.iceConnectionState = "connected";
    this.dispatchEvent(new Event("iceconnectionstatechange"));
  }

  close(): void {
    this.isClosed = true;
  }
}

const RELAY = { urls: ["turn:turn.test:3478?transport=tcp"], username: "1:a", credential: "b" };
let relays: object[] = [];
let asked: string[] = [];

beforeEach(() => {
  FakePeer.made.length = 0;
  asked = [];
  vi.stubGlobal("RTCPeerConnection", FakePeer);
  vi.stubGlobal("MediaStream", class {});
  vi.stubGlobal("fetch", async (url: string | URL, { method = "GET" }: RequestInit = {}) => {
    asked.push(`${method} ${url}`);
    if (method === "GET") return Response.json({ iceServers: relays });
    return {
      status: 201,
      headers: new Headers({ location: "/webrtc/abc/r" }),
      url: "https://w.test/",
      text: async () => "v=0",
    };
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
  return () => vi.useRealTimers();
});

function play() {
  const video = { getVideoPlaybackQuality: () => ({ totalVideoFrames: 0 }), play: async () => {} };
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const failed = vi.fn();
  playWebrtc(video as never, "https://w.test/webrtc/abc?jwt=a.b.c", failed, abort.signal);
  return failed;
}

it("asks for no relays where packets reach the server", async () => {
  const failed = play();
  await vi.advanceTimersByTimeAsync(100);
  FakePeer.made[0]?.reach();
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked).toEqual(["POST https://w.test/webrtc/abc?jwt=a.b.c"]);
  expect([FakePeer.made.length, failed.mock.calls]).toEqual([1, []]);
});

it("asks for relays before a second offer where none arrives within half a second, with the viewer's credential", async () => {
  relays = [RELAY];
  const failed = play();
  await vi.advanceTimersByTimeAsync(600);
  expect(asked).toEqual([
    "POST https://w.test/webrtc/abc?jwt=a.b.c",
    "DELETE https://w.test/webrtc/abc/r",
    "GET https://w.test/webrtc/abc/ice-servers?jwt=a.b.c",
    "POST https://w.test/webrtc/abc?jwt=a.b.c",
  ]);
  expect(FakePeer.made.map(({ configuration, isClosed }) => [configuration, isClosed])).toEqual([
    [{}, true],
    [{ iceServers: [RELAY] }, false],
  ]);
  FakePeer.made[1]?.reach();
  await vi.advanceTimersByTimeAsync(3000);
  expect(failed).not.toHaveBeenCalled();
});

it("says that the network blocks it where there are no relays, or they lead nowhere", async () => {
  relays = [];
  const without = play();
  await vi.advanceTimersByTimeAsync(600);
  expect(without.mock.calls).toEqual([["blocked"]]);
  relays = [RELAY];
  const nowhere = play();
  await vi.advanceTimersByTimeAsync(3600);
  expect(nowhere.mock.calls).toEqual([["blocked"]]);
});
