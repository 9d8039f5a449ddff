// @vitest-environment happy-dom
import type { Stream } from "@weir/contract";
import { expect, it, vi } from "vitest";
import { answerWith, button, press, render, untilShown } from "../../shared/testing/render.tsx";
import { StreamSelection } from "./stream-selection.tsx";

const stream = (id: string, suspended: boolean) => ({ id, name: `Stage ${id}`, suspended }) as unknown as Stream;

it("a bulk action that fails for one stream says for which and why, and keeps the selection", async () => {
  const asked = answerWith((path) =>
    path.endsWith("/2")
      ? Response.json({ errors: ["The database is away."] }, { status: 500 })
      : new Response(null, { status: 204 }),
  );
  const onClear = vi.fn();
  await render(
    <StreamSelection selected={[stream("1", false), stream("2", false), stream("3", true)]} onClear={onClear} />,
  );
  await press("Suspend");
  await untilShown("Suspend 3 streams?");
  // The dialog's button has the name of the one that opened it.
  [...document.querySelectorAll("[role=dialog] button")]
    .find((it) => it.textContent === "Suspend")
    ?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await untilShown("1 of 2 failed (Stage 2): The database is away.");
  expect(onClear).not.toHaveBeenCalled();
  expect(asked.mock.calls.map(([path]) => path)).toEqual(["/api/stream/1", "/api/stream/2"]);
});

it("offers only what the selected streams can be", async () => {
  await render(<StreamSelection selected={[stream("1", true)]} onClear={() => {}} />);
  expect([button("Suspend").disabled, button("Lift suspension").disabled]).toEqual([true, false]);
});
