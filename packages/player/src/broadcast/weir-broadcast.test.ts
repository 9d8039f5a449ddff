// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import "./index.ts";
import type { WeirBroadcast } from "./weir-broadcast.ts";

/** What the browser says to each request for a camera or a screen. */
const camera = vi.fn<(wanted: MediaStreamConstraints) => Promise<MediaStream>>();
const screen = vi.fn<() => Promise<MediaStream>>();
const devices = new EventTarget();
/** Sends another track. */
const replaceTrack = vi.fn(async () => {});

beforeEach(() => {
  camera.mockReset();
  screen.mockReset();
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("RTCPeerConnection", FakePeer);
  replaceTrack.mockClear();
  vi.stubGlobal("MediaStream", FakeMedia);
  const mediaDevices = Object.assign(devices, {
    getUserMedia: camera,
    getDisplayMedia: screen,
    enumerateDevices: async () => [{ kind: "videoinput", deviceId: "c2", label: "The other camera" }],
  });
  Object.defineProperty(navigator, "mediaDevices", { configurable: true, value: mediaDevices });
});
afterEach(() => document.body.replaceChildren());

function open(attributes: Readonly<Record<string, string>> = {}): WeirBroadcast {
  const element = document.createElement("weir-broadcast") as WeirBroadcast;
  for (const [name, value] of Object.entries({ "stream-key": "key", ...attributes })) element.setAttribute(name, value);
  document.body.append(element);
  return element;
}

/** A connection that never gets as far as an offer. */
class FakePeer extends EventTarget {
  addTransceiver(track: unknown) {
    return { sender: { track, getParameters: () => ({}), setParameters: async () => {}, replaceTrack } };
  }

  setLocalDescription(): Promise<void> {
    return new Promise(() => {});
  }

  close(): void {}
}

/** Holds tracks, which those of happy-dom do not. */
class FakeMedia extends MediaStream {
  constructor(given: readonly { readonly kind: string }[]) {
    super();
    let tracks = given;
    const of = (kind: string) => tracks.filter((track) => track.kind === kind);
    Object.assign(this, {
      addTrack: (track: { readonly kind: string }) => {
        tracks = [...tracks, track];
      },
      removeTrack: (track: unknown) => {
        tracks = tracks.filter((each) => each !== track);
      },
      getTracks: () => tracks,
      getVideoTracks: () => of("video"),
      getAudioTracks: () => of("audio"),
    });
  }
}

/** A picture without sound; its end as the browser tells of it. */
function picture() {
  const track = Object.assign(new EventTarget(), { kind: "video", stop: vi.fn() });
  return { media: new FakeMedia([track]), track };
}

const part = <T extends HTMLElement>(element: WeirBroadcast, selector: string): T =>
  element.shadowRoot?.querySelector<T>(selector) as T;

/** The words that are shown. */
const shown = (element: WeirBroadcast): string =>
  [...(element.shadowRoot?.querySelectorAll<HTMLElement>("p, .w-broadcast-note") ?? [])]
    .filter(({ hidden }) => !hidden)
    .map(({ textContent }) => textContent?.replace(/\s+/g, " ").trim())
    .filter((words) => words !== "")
    .join(" | ");

const mayBegin = (element: WeirBroadcast): boolean => !part<HTMLButtonElement>(element, ".w-broadcast-switch").disabled;

function choose(element: WeirBroadcast, name: string, value: string): void {
  const select = part<HTMLSelectElement>(element, `[data-choice="${name}"] select`);
  select.value = value;
  select.dispatchEvent(new Event("change"));
}

it("a page that came without TLS says why it has no camera, and what to do", () => {
  vi.stubGlobal("isSecureContext", false);
  const element = open();
  expect(element.state).toBe("unsupported");
  expect(shown(element)).toContain("This page cannot use a camera. Browsers allow cameras on HTTPS pages only.");
  expect(part(element, ".w-broadcast-switch").hidden).toBe(true);
  expect(camera).not.toHaveBeenCalled();
});

it.each([
  ["NotAllowedError", "The browser blocks the camera, screen or microphone."],
  ["NotFoundError", "No camera or microphone found."],
  ["NotReadableError", "The camera or microphone cannot be opened."],
  ["TypeError", "It has no eyes"],
])("%s of a camera is explained, and asked again at a press", async (name, sentence) => {
  camera.mockRejectedValueOnce(Object.assign(new Error("It has no eyes"), { name }));
  const element = open();
  expect(shown(element)).toBe("Waiting for the camera. If the browser asks, allow it.");
  await vi.waitFor(() => expect(shown(element)).toContain(sentence));
  expect([element.state, mayBegin(element)]).toEqual(["blocked", false]);
  camera.mockResolvedValueOnce(picture().media);
  part(element, ".w-broadcast-retry").click();
  await vi.waitFor(() => expect(element.state).toBe("ready"));
  expect([shown(element), mayBegin(element)]).toEqual(["The broadcast has no sound.", true]);
});

it("a camera that is pulled out ends the picture; an element that leaves the page gives it back", async () => {
  const { media, track } = picture();
  camera.mockResolvedValueOnce(media);
  const element = open();
  await vi.waitFor(() => expect(element.media).toBe(media));
  track.dispatchEvent(new Event("ended"));
  expect(shown(element)).toContain("The camera or screen stopped sending video.");
  expect([element.state, element.media, mayBegin(element)]).toEqual(["blocked", null, false]);
  const other = picture();
  camera.mockResolvedValueOnce(other.media);
  part(element, ".w-broadcast-retry").click();
  await vi.waitFor(() => expect(element.state).toBe("ready"));
  expect(other.track.stop).not.toHaveBeenCalled();
  element.remove();
  expect([track.stop.mock.calls.length > 0, other.track.stop.mock.calls.length]).toEqual([true, 1]);
});

it("a screen takes the camera's place, and a late answer of the camera is given back", async () => {
  let answer: (media: MediaStream) => void = () => {};
  camera.mockImplementationOnce(() => new Promise((resolve) => (answer = resolve)));
  const element = open();
  await vi.waitFor(() => expect(camera).toHaveBeenCalledOnce());
  screen.mockResolvedValue(picture().media);
  camera.mockRejectedValueOnce(new Error("no microphone"));
  choose(element, "source", "screen");
  expect(shown(element)).toBe("Waiting for you to choose a screen or window.");
  await vi.waitFor(() => expect(element.state).toBe("ready"));
  expect(part(element, '[data-choice="camera"]').hidden).toBe(true);
  const late = picture();
  answer(late.media);
  await vi.waitFor(() => expect(late.track.stop).toHaveBeenCalled());
});

it("a chosen silence asks for no microphone, and a chosen camera for that one", async () => {
  camera.mockResolvedValue(picture().media);
  const element = open();
  await vi.waitFor(() => expect(part(element, '[data-choice="camera"]').textContent).toContain("The other camera"));
  choose(element, "camera", "c2");
  choose(element, "microphone", "none");
  await vi.waitFor(() => expect(camera).toHaveBeenCalledTimes(2));
  const video = expect.objectContaining({ deviceId: { exact: "c2" } });
  expect(camera).toHaveBeenLastCalledWith({ audio: false, video });
});

it("a disabled element and one without a stream key do not begin, and say what state they are in", async () => {
  camera.mockResolvedValue(picture().media);
  const states: string[] = [];
  const element = document.createElement("weir-broadcast") as WeirBroadcast;
  element.addEventListener("statechange", ({ detail }: CustomEventInit) => states.push(detail.state));
  document.body.append(element);
  await vi.waitFor(() => expect(element.state).toBe("ready"));
  element.start();
  expect(mayBegin(element)).toBe(false);
  element.setAttribute("stream-key", "key");
  expect(mayBegin(element)).toBe(true);
  element.toggleAttribute("disabled", true);
  element.start();
  expect([mayBegin(element), states]).toEqual([false, ["asking", "ready"]]);
});

it("another camera takes the place of the one before while the broadcast goes on, and one that is refused does not", async () => {
  const first = picture();
  camera.mockResolvedValueOnce(first.media);
  const element = open();
  await vi.waitFor(() => expect(part(element, '[data-choice="camera"]').textContent).toContain("The other camera"));
  element.start();
  expect(element.state).toBe("connecting");

  camera.mockRejectedValueOnce(Object.assign(new Error(), { name: "NotReadableError" }));
  choose(element, "camera", "c2");
  const kept = "The camera or microphone cannot be opened. The broadcast goes on with what it had.";
  await vi.waitFor(() => expect(shown(element)).toContain(kept));
  expect(part<HTMLSelectElement>(element, '[data-choice="camera"] select').value).toBe("");
  expect([first.track.stop.mock.calls.length, element.media?.getTracks()]).toEqual([0, [first.track]]);

  const second = picture();
  camera.mockResolvedValueOnce(second.media);
  choose(element, "camera", "c2");
  await vi.waitFor(() => expect(element.media?.getTracks()).toEqual([second.track]));
  expect(camera).toHaveBeenLastCalledWith(expect.objectContaining({ audio: false }));
  expect([first.track.stop.mock.calls.length, second.track.stop.mock.calls.length]).toEqual([1, 0]);
  expect(replaceTrack.mock.calls).toEqual([[second.track]]);
  expect([element.media, shown(element)]).toEqual([first.media, expect.not.stringContaining(kept)]);
  // Its end is the end of the broadcast, as that of the first would have been.
  second.track.dispatchEvent(new Event("ended"));
  expect([element.state, element.media]).toEqual(["blocked", null]);
});

it("a broadcast that began without sound stays without", async () => {
  camera.mockResolvedValueOnce(picture().media);
  const element = open();
  await vi.waitFor(() => expect(mayBegin(element)).toBe(true));
  const microphone = part<HTMLSelectElement>(element, '[data-choice="microphone"] select');
  expect(microphone.disabled).toBe(false);
  element.start();
  expect(microphone.disabled).toBe(true);
});
