// @vitest-environment happy-dom
import type { Stream } from "@weir/contract";
import { expect, it, vi } from "vitest";
import { answerWith, press, render, shown, untilShown } from "../../shared/testing/render.tsx";
import { LiveClipButton } from "./live-clip-button.tsx";

const NOW = Date.UTC(2030, 0, 1);

async function open(record: boolean): Promise<void> {
  vi.spyOn(Date, "now").mockReturnValue(NOW);
  const stream = { id: "s1", playbackId: "p1", record } as unknown as Stream;
  await render(<LiveClipButton stream={stream} latencySeconds={1.5} />);
  await press("Clip");
}

it("cuts what was just seen: the last seconds up to the picture on the screen", async () => {
  const asked = answerWith(() => Response.json({ asset: { id: "a1", name: "Stage" }, task: { id: "t1" } }));
  await open(true);
  for (const seconds of [15, 30, 60]) await untilShown(`Last ${seconds} seconds`);
  expect(shown()).not.toContain("This stream is not recorded");
  await press("Last 30 seconds");
  await vi.waitUntil(() => !shown().includes("Last 30 seconds"), { timeout: 10_000 });
  expect(asked).toHaveBeenCalledWith("/api/clip", "POST", {
    playbackId: "p1",
    startTime: NOW - 31_500,
    endTime: NOW - 1500,
  });
});

it("offers what the server still holds of a stream that is not recorded, and stays open with the reason of a refusal", async () => {
  answerWith(() => Response.json({ errors: ["The broadcast began later."] }, { status: 422 }));
  await open(false);
  await untilShown("This stream is not recorded");
  expect(shown()).not.toContain("Last 15 seconds");
  await press("Last 10 seconds");
  await untilShown("The broadcast began later.");
  expect(shown()).toContain("Last 10 seconds");
});
