import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: "unit", include: ["{packages,apps,tools}/**/*.test.ts"], exclude: ["**/node_modules/**", "apps/server/test/**"] } },
      { extends: true, test: { name: "e2e", include: ["apps/server/test/**/*.test.ts"], fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 } },
    ],
  },
});
