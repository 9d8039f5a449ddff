import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tools/longest-first.ts";

/** A second try where the machine was busy with others; `npm test` names each test that needed one, and why. */
const RETRIES = 1;

/** A worker reads and compiles a module once for all files that it runs, and begins once: a third of a unit test's CPU time otherwise. */
const sharedWorkers = {
  isolate: false,
  // So a test leaves nothing changed for the next file.
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
};

const ISOLATED = "{packages,apps}/**/*.isolated.test.{ts,tsx}";

const endToEnd = {
  ...sharedWorkers,
  retry: RETRIES,
  testTimeout: 120_000,
  hookTimeout: 120_000,
};
/** Tests that start servers of their own, and measure, stop or kill them. */
const alone = { ...endToEnd, globalSetup: "apps/server/test/support/alone-set-up.ts" };
/** Servers, publishers and browsers share the machine's cores. */
const oneAtATime = { ...alone, fileParallelism: false };

export default defineConfig({
  test: {
    // Three on two cores: a third of the time they wait.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 60_000,
    // What is waited for comes within milliseconds, on a machine that others keep busy within seconds.
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          retry: RETRIES,
          include: ["{packages,apps,tools}/**/*.test.{ts,tsx}", "apps/server/test/*.loopback.ts"],
          exclude: ["**/node_modules/**", "apps/server/test/**/*.test.ts", ISOLATED],
          globalSetup: "tools/unit-test-postgres.ts",
          ...sharedWorkers,
        },
      },
      // They replace modules, which another file of the same worker may have read before.
      { extends: true, test: { name: "unit-isolated", retry: RETRIES, include: [ISOLATED] } },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["apps/server/test/**/*.test.ts"],
          ...endToEnd,
          globalSetup: "apps/server/test/support/e2e-set-up.ts",
          // They wait for media time most of the time.
          maxWorkers: 6,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: "e2e-realtime",
          include: ["apps/server/test/**/*.realtime.ts"],
          ...alone,
          // An encoder that falls behind leaves gaps, and then there is nothing to look at: one for each core.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: "e2e-alone", include: ["apps/server/test/**/*.alone.ts"], ...alone, maxWorkers: 4 },
      },
      {
        extends: true,
        test: {
          name: "hostile",
          include: ["apps/server/test/**/*.hostile.ts"],
          ...oneAtATime,
          retry: 0,
          testTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          name: "nodes",
          include: ["apps/server/test/**/*.nodes.ts"],
          ...oneAtATime,
          retry: 0,
          testTimeout: 240_000,
        },
      },
      { extends: true, test: { name: "peers", include: ["apps/server/test/**/*.peers.ts"], ...oneAtATime } },
      {
        extends: true,
        test: {
          name: "long",
          include: ["apps/server/test/**/*.long.ts"],
          ...oneAtATime,
          retry: 0,
          testTimeout: 900_000,
        },
      },
      {
        extends: true,
        test: {
          name: "crash",
          include: ["apps/server/test/**/*.crash.ts"],
          ...oneAtATime,
          retry: 0,
          testTimeout: 900_000,
        },
      },
      {
        extends: true,
        test: { name: "campaign", include: ["apps/server/test/campaign/*.campaign.ts"], ...oneAtATime, retry: 0 },
      },
    ],
  },
});
