// @vitest-environment happy-dom
import type { Stream } from "@weir/contract";
import { expect, it, vi } from "vitest";
import { answerWith, button, field, fill, press, render, shown, untilShown } from "../../shared/testing/render.tsx";
import { PullPanel } from "./pull-panel.tsx";

const streamWith = (changes: object) => ({ id: "s1", name: "Harbour", status: {}, ...changes }) as unknown as Stream;
const SOURCE = "https://u:p@camera.example/live.m3u8";
const HIDDEN = "https://***:***@camera.example/live.m3u8";

it("a source is tried, then set and started; another address forgets what was found", async () => {
  const tracks = [{ kind: "video", codec: "avc1.64001f", width: 1280, height: 720 }];
  const asked = answerWith((path) =>
    path.endsWith("/try") ? Response.json({ tracks, problem: "No audio." }) : new Response(null, { status: 204 }),
  );
  await render(<PullPanel stream={streamWith({})} />);
  await press("Set source");
  await fill("Address", "camera.example");
  expect(button("Try this source").disabled).toBe(true);
  await fill("Address", SOURCE);
  await press("Try this source");
  await untilShown("video 1280 × 720 (avc1.64001f)");
  expect(shown()).toContain("No audio.");
  await fill("Headers", "X-Token: t");
  await vi.waitUntil(() => !shown().includes("No audio."));
  await press("Save and start");
  await vi.waitUntil(() => asked.mock.calls.length === 3, { timeout: 10_000 });
  expect(asked.mock.calls).toEqual([
    ["/api/stream/pull/try", "POST", { source: SOURCE }],
    ["/api/stream/s1", "PATCH", { pull: { source: SOURCE, headers: { "X-Token": "t" } } }],
    ["/api/stream/s1/start-pull", "POST", undefined],
  ]);
});

it("a pull that fails says why; its hidden address is typed again, and it can be stopped and removed", async () => {
  const asked = answerWith(() => new Response(null, { status: 204 }));
  const pull = { state: "retrying", since: 1, reason: "The source answered 401." };
  await render(<PullPanel stream={streamWith({ pull: { source: HIDDEN }, status: { pull } })} />);
  for (const words of ["Retrying", HIDDEN, "The source answered 401."]) expect(shown()).toContain(words);
  await press("Stop pull");
  await vi.waitUntil(() => asked.mock.calls.length === 1, { timeout: 10_000 });
  expect(asked).toHaveBeenLastCalledWith("/api/stream/s1/terminate", "DELETE", undefined);
  await press("Change source");
  await untilShown("Type the whole address");
  expect([field("Address").value, button("Save and start").disabled]).toEqual(["", true]);
});
