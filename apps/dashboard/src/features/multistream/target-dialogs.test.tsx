// @vitest-environment happy-dom
import type { Stream } from "@weir/contract";
import { expect, it, vi } from "vitest";
import { answerWith, button, field, fill, press, render, shown, untilShown } from "../../shared/testing/render.tsx";
import { AddTargetDialog, EditTargetDialog } from "./target-dialogs.tsx";

const stream = { id: "s1", name: "Stage", profiles: [{ name: "360p" }] } as unknown as Stream;

it("a platform brings its server and its name, unless one was typed", async () => {
  const asked = answerWith(() => new Response(null, { status: 204 }));
  const onClose = vi.fn();
  await render(<AddTargetDialog stream={stream} onClose={onClose} />);
  expect(field("Server").value).toBe("rtmps://live.twitch.tv/app");
  expect(button("Add target").disabled).toBe(true);
  await fill("Platform", "youtube");
  expect([field("Server").value, field("Name").value]).toEqual(["rtmps://a.rtmps.youtube.com/live2", "YouTube"]);
  await fill("Name", "My channel");
  await fill("Platform", "twitch");
  expect(field("Name").value).toBe("My channel");
  await fill("Stream key", " live_123 ");
  await fill("Send", "360p");
  await press("Add target");
  await vi.waitUntil(() => onClose.mock.calls.length > 0, { timeout: 10_000 });
  expect(asked).toHaveBeenCalledWith("/api/stream/s1/create-multistream-target", "POST", {
    profile: "360p",
    spec: { name: "My channel", url: "rtmps://live.twitch.tv/app/live_123" },
  });
});

it("a refused address stays in the form, with the reason", async () => {
  const sentence = "port 1 is not allowed";
  answerWith(() => Response.json({ errors: [sentence] }, { status: 400 }));
  const onClose = vi.fn();
  await render(<AddTargetDialog stream={stream} onClose={onClose} />);
  await fill("Platform", "custom");
  await fill("Server", "srt://example.com:1");
  await press("Add target");
  await untilShown(sentence);
  expect([field("Server").value, onClose.mock.calls]).toEqual(["srt://example.com:1", []]);
});

it("a change of the name keeps the address, and half an address is none", async () => {
  const asked = answerWith(() => new Response(null, { status: 204 }));
  const onClose = vi.fn();
  await render(<EditTargetDialog stream={stream} id="t1" name="Old" onClose={onClose} />);
  await fill("Server", "rtmp://example.com");
  expect(button("Save").disabled).toBe(true);
  await fill("Server", "");
  await fill("Name", "New");
  expect(shown()).toContain("Leave server and key blank to keep the current address.");
  await press("Save");
  await vi.waitUntil(() => onClose.mock.calls.length > 0, { timeout: 10_000 });
  expect(asked).toHaveBeenCalledWith("/api/multistream/target/t1", "PATCH", { name: "New" });
});
