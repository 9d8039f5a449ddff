import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endRunning, ROOT, runStep, type Step } from "./test-step.ts";

/** What needs long, or programs that npm does not bring. */
const LEFT_OUT = [
  "test:hostile: attacks on the server while somebody broadcasts, watches and uses the API, about 10 minutes",
  "test:crash: kill -9 of the server twenty times while three streams are recorded, about 9 minutes",
  "test:peers: an nginx of the distribution (/usr/sbin/nginx) in front of the server, about a minute",
];

const reports = mkdtempSync(join(tmpdir(), "weir-test-run-"));

const vitest = (project: string, withinSeconds: number): Step => {
  const report = join(reports, `${project}.json`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  return { name: project, command: ["vitest", "run", "--project", project, ...reporters], withinSeconds, report };
};

const typecheck = (project: string): Step => ({
  name: `types of ${project}`,
  command: ["tsc", "-p", project],
  withinSeconds: 120,
});

const STEPS: readonly Step[] = [
  { name: "lint", command: ["biome", "check", "."], withinSeconds: 60 },
  typecheck("tsconfig.json"),
  typecheck("packages/formats/tsconfig.json"),
  typecheck("apps/dashboard/tsconfig.json"),
  ...(existsSync(join(ROOT, "apps/dashboard/dist/index.html"))
    ? []
    : [{ name: "dashboard", command: ["npm", "run", "build"], withinSeconds: 180 } as const]),
  vitest("unit", 480),
  vitest("e2e", 1800),
];

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    endRunning();
    process.exit(1);
  });
}

let [passed, failed] = [0, 0];
const failedSteps: string[] = [];
for (const step of STEPS) {
  const tally = await runStep(step);
  passed += tally.passed;
  failed += tally.failed;
  if (tally.failed > 0) failedSteps.push(`${step.name}: ${tally.failed}`);
}
rmSync(reports, { recursive: true });

process.stdout.write("\n");
for (const line of failedSteps) process.stdout.write(`failed in ${line}\n`);
for (const line of LEFT_OUT) process.stdout.write(`left out: ${line}\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
