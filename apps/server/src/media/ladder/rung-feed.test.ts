import { expect, test } from "vitest";
import { SessionFeed } from "../feed/session-feed.ts";
import type { RenditionPackager } from "../packaging/rendition-packager.ts";
import { RungFeed } from "./rung-feed.ts";

test("a picture that a slow child gives after the pause is left out: a slate may have its time", () => {
  const packaged: (number | string)[] = [];
  const packager = {
    sample: ({ time }: { readonly time: number }) => packaged.push(time),
    pause: (ticks: number) => packaged.push(`pause ${ticks}`),
  } as unknown as RenditionPackager;
  const feed = new RungFeed(packager, new SessionFeed());
  const picture = (pts: number) => feed.packet({ pts, isIndependent: pts === 0, data: new Uint8Array(1) }, pts === 0);
  for (const pts of [0, 3_000, 6_000]) picture(pts);
  feed.pause(15_000);
  picture(9_000);
  picture(12_000);
  for (const pts of [200_000, 203_000]) picture(pts);
  expect(packaged).toEqual([0, 3_000, 6_000, "pause 15000", 200_000]);
});
