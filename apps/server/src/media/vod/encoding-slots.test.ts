import { expect, test } from "vitest";
import { encodingSlots } from "./open-asset-pipeline.ts";

test.each([
  [2, 0, 1],
  [2, 1.2, 1],
  [8, 0, 4],
  [8, 4.8, 1],
  [8, 3.9, 2],
])("with %d cores, %d of them for live transcoding, %d children may run", (cores, live, slots) => {
  expect(encodingSlots(cores, live)).toBe(slots);
});
