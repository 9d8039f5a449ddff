import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDashboardStale } from "./dashboard-age.ts";
import type { TestReport } from "./test-report.ts";
import { endRunning, ROOT, runStep, type Step } from "./test-step.ts";

const SLOWEST_SHOWN = 10;

/** Tests that take long or need programs that npm does not install. */
const LEFT_OUT = [
  "test:hostile: attacks on the server during normal use, about 10 minutes",
  "test:crash: kills the server and cuts the power of its disk while it records, about 50 minutes",
  "test:long: large uploads across server kills, long videos, a slow machine, about 20 minutes",
  "test:nodes: several processes whose database connections, machines and clocks fail, about 25 minutes",
  "test:peers: interoperation with nginx, ffmpeg, Swift and other players, about 30 minutes",
];

const reports = mkdtempSync(join(tmpdir(), "weir-test-run-"));

/** `projects`: of Vitest; by default the one of that name. */
const vitest = (name: string, withinSeconds: number, projects: readonly string[] = [name]): Step => {
  const report = join(reports, `${name}.json`);
  const options = [...projects.map((project) => `--project=${project}`), "--reporter=default"];
  return { name, command: ["vitest", "run", ...options, "--reporter=./tools/test-report.ts"], withinSeconds, report };
};

const typecheck = (project: string): Step => ({
  name: `types of ${project}`,
  command: ["tsc", "-p", project],
  withinSeconds: 120,
});

/** These run in parallel; most use one core. */
const CHECKS: readonly Step[] = [
  typecheck("tsconfig.json"),
  typecheck("packages/formats/tsconfig.json"),
  typecheck("apps/dashboard/tsconfig.json"),
  { name: "lint", command: ["biome", "check", "."], withinSeconds: 120 },
  { name: "unused files and dependencies", command: ["knip", "--no-progress"], withinSeconds: 120 },
  ...(isDashboardStale(ROOT)
    ? [{ name: "dashboard", command: ["npm", "run", "build"], withinSeconds: 180 } as const]
    : []),
];

const TESTS: readonly Step[] = [
  vitest("unit", 480, ["unit", "unit-isolated"]),
  vitest("e2e", 900),
  vitest("e2e-realtime", 300),
  vitest("e2e-alone", 1800),
];

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    endRunning();
    process.exit(1);
  });
}

const results: readonly { readonly step: Step; readonly report: TestReport }[] = [
  ...(await Promise.all(CHECKS.map(async (step) => ({ step, report: await runStep(step, "beside") })))),
  ...(await oneAfterTheOther(TESTS)),
];
rmSync(reports, { recursive: true });

const flaky = results.flatMap(({ report }) => report.flaky);
const slowest = results
  .flatMap(({ report }) => report.files)
  .sort((a, b) => b.seconds - a.seconds)
  .slice(0, SLOWEST_SHOWN);
const total = (outcome: "passed" | "failed") => results.reduce((sum, { report }) => sum + report[outcome], 0);
const lines = [
  "",
  "slowest files:",
  ...slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${name}`),
  ...LEFT_OUT.map((what) => `not run: ${what}`),
  ...results
    .filter(({ report }) => report.failed > 0)
    .flatMap(({ step, report }) => [
      `failed in ${step.name}: ${report.failed}`,
      ...report.failures.map((failure) => `  ${failure}`),
    ]),
  `flaky (passed on retry): ${flaky.length}`,
  ...flaky.map((name) => `  ${name}`),
  `${total("passed")} passed, ${total("failed")} failed`,
];
process.stdout.write(`${lines.join("\n")}\n`);
process.exitCode = total("failed") > 0 ? 1 : 0;

async function oneAfterTheOther(steps: readonly Step[]): Promise<{ step: Step; report: TestReport }[]> {
  const done: { step: Step; report: TestReport }[] = [];
  for (const step of steps) done.push({ step, report: await runStep(step) });
  return done;
}
