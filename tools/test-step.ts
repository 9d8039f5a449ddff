import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/** One program of the test run. Its own output stays above, as it comes. */
export interface Step {
  readonly name: string;
  /** A program of `node_modules/.bin`, and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** It is ended, with everything that it started, when it takes longer. */
  readonly withinSeconds: number;
  /** Where the program leaves Vitest's JSON report; without one the step counts as one test. */
  readonly report?: string;
}

export async function runStep(step: Step): Promise<Tally> {
  process.stdout.write(`\n── ${step.name}: ${step.command.join(" ")}\n`);
  const code = await exitCode(step);
  if (step.report === undefined) return code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
  const { passed, failed } = readReport(step.report);
  // A run that fails without a failed test had an error outside of tests, or did not come to its report.
  return { passed, failed: failed === 0 && code !== 0 ? 1 : failed };
}

const running = new Set<ChildProcess>();

/** Ends what runs now, with everything that it started. */
export function endRunning(): void {
  for (const { pid } of running) if (pid !== undefined) killGroup(pid);
}

function exitCode({ name, command: [program, ...args], withinSeconds }: Step): Promise<number | null> {
  // A group of its own, so that nothing of it is left behind.
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
    env: { ...process.env, PATH: [`${ROOT}node_modules/.bin`, process.env.PATH].join(delimiter) },
  });
  running.add(child);
  const deadline = setTimeout(() => {
    process.stdout.write(`${name} took longer than ${withinSeconds} s and was ended\n`);
    endRunning();
  }, withinSeconds * 1000);
  return new Promise((resolve) => {
    const settle = (code: number | null): void => {
      clearTimeout(deadline);
      endRunning();
      running.delete(child);
      resolve(code);
    };
    child.once("error", (error) => {
      process.stdout.write(`${name} could not be started: ${error.message}\n`);
      settle(null);
    });
    child.once("exit", settle);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

function readReport(path: string): Tally {
  try {
    const report = JSON.parse(readFileSync(path, "utf8")) as VitestReport;
    // A file that could not be loaded has no tests to count.
    const broken = report.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
    return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
