import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeTestFolder } from "../apps/server/src/platform/test-folder-rig.ts";
import { ROOT } from "./test-step.ts";

const FILES = [
  "package.json",
  "tools/campaign.ts",
  "tools/shrunk.ts",
  "tools/test-report.ts",
  "tools/test-step.ts",
  "apps/server/test/campaign/plants.ts",
];

/** In place of Vitest: makes ten faults, or those of `--only`, of which the seventh breaks a promise. */
const STAND_IN = `#!/usr/bin/env node
import { writeFileSync } from "node:fs";
const { CAMPAIGN_ONLY, CAMPAIGN_PLANT = "nothing", CAMPAIGN_FOUND } = process.env;
const made = CAMPAIGN_ONLY?.split(",") ?? Array.from({ length: 10 }, (_, index) => String(index + 1));
const isBroken = made.includes("7");
console.log(CAMPAIGN_PLANT + " planted: " + made);
const faults = made.map((nth) => nth + " encoder cut over rtmp");
writeFileSync(CAMPAIGN_FOUND, JSON.stringify({ faults, figures: {}, broken: isBroken ? "lost a write" : "" }));
process.exit(isBroken ? 1 : 0);
`;

function campaign(...args: readonly string[]) {
  const root = makeTestFolder("campaign-tool");
  for (const file of FILES) cpSync(join(ROOT, file), join(root, file));
  const bin = join(root, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "vitest"), STAND_IN, { mode: 0o755 });
  writeFileSync(join(bin, "package.json"), '{ "type": "module" }');
  const { status, stdout } = spawnSync(process.execPath, [join(root, "tools/campaign.ts"), ...args], {
    encoding: "utf8",
  });
  return { status, lines: stdout.trim().split("\n") };
}

test("a seed that fails is shrunk to the fault that breaks a promise", () => {
  const { status, lines } = campaign("--seed", "3", "--shrink");
  expect(status).toBe(1);
  expect(lines.slice(-2)).toEqual(["seed 3 fails with --only 7 alone:", "7 encoder cut over rtmp"]);
});

test("a planted mistake that is found is shrunk with the mistake in place", () => {
  const { status, lines } = campaign("--seed", "3", "--plant", "lost-notify", "--shrink");
  expect(status).toBe(0);
  expect(lines.slice(-2)).toEqual(["lost-notify is found by seed 3 with --only 7 alone:", "7 encoder cut over rtmp"]);
  const runs = lines.filter((line) => line.includes("planted: "));
  expect(runs.length).toBeGreaterThan(2);
  expect(runs.filter((line) => !line.startsWith("lost-notify planted"))).toEqual([]);
});

test("a planted mistake that no fault shows is not found", () => {
  const { status, lines } = campaign("--plant", "lost-notify", "--only", "1,2");
  expect(status).toBe(1);
  expect(lines.at(-1)).toMatch("lost-notify: NOT FOUND");
});
