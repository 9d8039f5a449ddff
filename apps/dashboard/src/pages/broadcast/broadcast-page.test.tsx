// @vitest-environment happy-dom
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { beforeEach, expect, it, vi } from "vitest";
import { answerWith, button, fill, press, render, shown, untilShown } from "../../shared/testing/render.tsx";
import { BroadcastPage } from "./broadcast-page.tsx";

const stream = {
  id: "s1",
  name: "Stage",
  playbackId: "p1",
  streamKey: "key",
  status: { state: "idle" },
  isActive: false,
  suspended: false,
  lastSeen: 0,
  profiles: [],
  multistream: { targets: [] },
  issues: [],
};
/** What the browser says to each request for a camera or a screen. */
const camera = vi.fn<(wanted: MediaStreamConstraints) => Promise<MediaStream>>();
const screen = vi.fn<() => Promise<MediaStream>>();

beforeEach(() => {
  camera.mockReset();
  screen.mockReset();
  vi.stubGlobal("isSecureContext", true);
  vi.stubGlobal("RTCPeerConnection", EventTarget);
  Object.defineProperty(navigator, "mediaDevices", {
    configurable: true,
    value: { getUserMedia: camera, getDisplayMedia: screen, enumerateDevices: async () => [] },
  });
});

async function open(changes: Partial<typeof stream> = {}): Promise<void> {
  answerWith((path) =>
    path.startsWith("/api/stream/s1")
      ? Response.json({ ...stream, ...changes })
      : Response.json({ errors: ["not here"] }, { status: 404 }),
  );
  const root = createRootRoute();
  const app = createRoute({ getParentRoute: () => root, id: "app" });
  const page = createRoute({
    getParentRoute: () => app,
    path: "/streams/$streamId/broadcast",
    component: BroadcastPage,
  });
  const router = createRouter({
    routeTree: root.addChildren([app.addChildren([page])]),
    history: createMemoryHistory({ initialEntries: ["/streams/s1/broadcast"] }),
  });
  await render(<RouterProvider router={router as never} />);
  await untilShown("Broadcast from this browser");
}

/** A picture without sound; its end as the browser tells of it. */
function picture() {
  const track = Object.assign(new EventTarget(), { kind: "video", stop: vi.fn() });
  const media = new MediaStream();
  Object.assign(media, { getTracks: () => [track], getVideoTracks: () => [track], getAudioTracks: () => [] });
  return { media, track };
}

it("a page that came without TLS says why it has no camera, and what to do", async () => {
  vi.stubGlobal("isSecureContext", false);
  await open();
  await untilShown("This page cannot use a camera.");
  expect(shown()).not.toContain("Go live");
  expect(camera).not.toHaveBeenCalled();
});

it.each([
  ["NotAllowedError", "The browser blocks the camera, screen or microphone."],
  ["NotFoundError", "No camera or microphone found."],
  ["NotReadableError", "The camera or microphone cannot be opened."],
  ["TypeError", "It has no eyes"],
])("%s of a camera is explained, and asked again at a press", async (name, sentence) => {
  camera.mockRejectedValueOnce(Object.assign(new Error("It has no eyes"), { name }));
  await open();
  await untilShown(sentence);
  expect(button("Go live").disabled).toBe(true);
  camera.mockResolvedValueOnce(picture().media);
  await press("Try again");
  await untilShown("The broadcast has no sound.");
  expect([shown().includes(sentence), button("Go live").disabled]).toEqual([false, false]);
});

it("a camera that is pulled out ends the picture; a page that is left gives it back", async () => {
  const { media, track } = picture();
  camera.mockResolvedValueOnce(media);
  await open();
  await untilShown("The broadcast has no sound.");
  track.dispatchEvent(new Event("ended"));
  await untilShown("The camera or screen stopped sending video.");
  expect(button("Go live").disabled).toBe(true);
  const other = picture();
  camera.mockResolvedValueOnce(other.media);
  await press("Try again");
  await untilShown("The broadcast has no sound.");
  expect(track.stop).toHaveBeenCalled();
  expect(other.track.stop).not.toHaveBeenCalled();
});

it("a screen takes the camera's place, and a chosen silence asks for no microphone", async () => {
  const first = picture();
  camera.mockResolvedValueOnce(first.media);
  await open();
  await untilShown("The broadcast has no sound.");
  screen.mockImplementation(() => new Promise(() => {}));
  await fill("Video source", "screen");
  await untilShown("Waiting for you to choose a screen or window.");
  expect(first.track.stop).toHaveBeenCalled();
  camera.mockResolvedValue(picture().media);
  await fill("Video source", "camera");
  await fill("Microphone", "none");
  expect(camera).toHaveBeenLastCalledWith(expect.objectContaining({ audio: false }));
});

it("a stream that is live elsewhere says that it is taken over", async () => {
  camera.mockResolvedValue(picture().media);
  await open({ isActive: true, status: { state: "live" } });
  await untilShown("This stream is live from another encoder.");
  expect(button("Go live").disabled).toBe(false);
});

it("a suspended stream does not go live", async () => {
  camera.mockResolvedValue(picture().media);
  await open({ suspended: true, status: { state: "suspended" } });
  await untilShown("The broadcast has no sound.");
  expect(button("Go live").disabled).toBe(true);
});
