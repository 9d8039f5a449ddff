// @vitest-environment happy-dom
import type { Stream } from "@weir/contract";
import { expect, it, vi } from "vitest";
import { answerWith, render, untilShown } from "../../shared/testing/render.tsx";
import { SlateSwitch } from "./slate-switch.tsx";

const theSwitch = () => document.querySelector<HTMLInputElement>("input[type=checkbox]") ?? expect.fail("no switch");

it.each([
  [{}, false, "last-picture"],
  [{ slate: "last-picture" }, true, "off"],
] as const)("a stream with %o has its slate switched", async (setting, isOn, wanted) => {
  const asked = answerWith(() => new Response(null, { status: 204 }));
  await render(<SlateSwitch stream={{ id: "s1", ...setting } as unknown as Stream} />);
  await untilShown("Slate for viewers");
  expect(theSwitch().checked).toBe(isOn);
  theSwitch().click();
  await vi.waitUntil(() => asked.mock.calls.length > 0, { timeout: 10_000 });
  expect(asked).toHaveBeenCalledWith("/api/stream/s1", "PATCH", { slate: wanted });
});
