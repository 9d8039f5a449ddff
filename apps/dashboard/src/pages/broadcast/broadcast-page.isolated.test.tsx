// @vitest-environment happy-dom
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { expect, it, vi } from "vitest";
import { answerWith, render, shown, untilShown } from "../../shared/testing/render.tsx";
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
/** Stands in for the element, which has tests of its own. */
class FakeBroadcast extends HTMLElement {
  enter(state: string): void {
    this.dispatchEvent(new CustomEvent("statechange", { detail: { state } }));
  }
}
customElements.define("weir-broadcast", FakeBroadcast);
vi.mock("@weir/player/broadcast", () => ({}));

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

const broadcast = (): FakeBroadcast => {
  const found = document.querySelector<FakeBroadcast>("weir-broadcast");
  if (!found) throw new Error("the page has no broadcast");
  return found;
};

it("the element gets the stream's key, and a stream that is live elsewhere says that it is taken over", async () => {
  await open({ isActive: true, status: { state: "live" } });
  await untilShown("This stream is live from another encoder.");
  await vi.waitFor(() => expect(broadcast().getAttribute("stream-key")).toBe("key"));
  expect(broadcast().hasAttribute("disabled")).toBe(false);
  broadcast().enter("live");
  await vi.waitFor(() => expect(shown()).not.toContain("This stream is live from another encoder."));
});

it("a browser that cannot broadcast is shown another way", async () => {
  await open();
  await vi.waitFor(() => expect(broadcast()).toBeTruthy());
  broadcast().enter("unsupported");
  await untilShown("Publish with an encoder instead");
});

it("a suspended stream does not go live", async () => {
  await open({ suspended: true, status: { state: "suspended" } });
  await vi.waitFor(() => expect(broadcast().hasAttribute("disabled")).toBe(true));
});
