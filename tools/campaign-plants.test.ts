import { expect, test } from "vitest";
import { PLANTS, planted } from "../apps/server/test/campaign/plants.ts";
import { readSource } from "./source-files.ts";

test.each(Object.entries(PLANTS))("the fault %s can still be planted into the server", (_name, plant) => {
  const text = readSource(`apps/server/src/${plant.file}`);
  expect(planted(plant, text)).not.toBe(text);
  expect(() => planted(plant, text.replace(plant.find, ""))).toThrow("no longer fits");
});
