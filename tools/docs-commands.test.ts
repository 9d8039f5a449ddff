import { expect, test } from "vitest";
import { commandBlocks, EXAMPLE_VARIABLES } from "../apps/server/test/support/command-blocks.ts";

const blocks = commandBlocks();

test("a command block that no test runs gives the reason", () => {
  expect(blocks.length).toBeGreaterThan(10);
  expect(blocks.filter(({ notRun }) => notRun === "").map(({ place }) => place)).toEqual([]);
});

test("tested examples use only variables that the documentation defines", () => {
  const unknown = blocks
    .filter(({ notRun }) => notRun === null)
    .flatMap(({ place, script }) => {
      const known = new Set<string>(EXAMPLE_VARIABLES);
      for (const [, name = ""] of script.matchAll(/^(\w+)=/gm)) known.add(name);
      return [...script.matchAll(/\$\{?([A-Z_]\w*)/g)]
        .filter(([, name = ""]) => !known.has(name))
        .map(([name]) => `${place}: ${name}`);
    });
  expect(unknown).toEqual([]);
});
