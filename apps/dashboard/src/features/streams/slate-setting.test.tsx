// @vitest-environment happy-dom
import type { Stream } from "@weir/contract";
import { expect, it, vi } from "vitest";
import { answerWith, render, untilShown } from "../../shared/testing/render.tsx";
import { SlateSetting } from "./slate-setting.tsx";

const theChoice = () => document.querySelector("select") ?? expect.fail("nothing to choose from");
const show = async (slate: Stream["slate"]) => {
  await render(<SlateSetting stream={{ id: "s1", ...(slate && { slate }) } as unknown as Stream} />);
  await untilShown("Slate for viewers");
};

it.each([
  [undefined, "off", "last-picture"],
  ["last-picture", "last-picture", "image"],
  ["image", "image", "off"],
] as const)("the slate of a stream is shown as %s, and changes", async (slate, shown, wanted) => {
  const asked = answerWith(() => new Response(null, { status: 204 }));
  await show(slate);
  expect(theChoice().value).toBe(shown);
  theChoice().value = wanted;
  theChoice().dispatchEvent(new Event("change", { bubbles: true }));
  await vi.waitUntil(() => asked.mock.calls.length > 0, { timeout: 10_000 });
  expect(asked).toHaveBeenCalledWith("/api/stream/s1", "PATCH", { slate: wanted });
});

it("an image is uploaded in base64", async () => {
  const asked = answerWith(() => new Response(null, { status: 204 }));
  await show("image");
  const input = document.querySelector<HTMLInputElement>("input[type=file]") ?? expect.fail("no place for a file");
  const file = new File([Uint8Array.of(0x89, 0x50, 0x4e, 0x47)], "slate.png", { type: "image/png" });
  Object.defineProperty(input, "files", { value: [file] });
  input.dispatchEvent(new Event("change", { bubbles: true }));
  await untilShown("Image saved");
  expect(asked).toHaveBeenCalledWith("/api/stream/s1/slate-image", "PUT", { image: "iVBORw==" });
});

it("nothing asks for an image where none is shown", async () => {
  await show("last-picture");
  expect(document.querySelector("input[type=file]")).toBeNull();
});
