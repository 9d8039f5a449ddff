import { type ChildProcess, spawn } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { REPORT_VARIABLE, readReport, type TestReport } from "./test-report.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

const ONE_PASSED: TestReport = { passed: 1, failed: 0, flaky: [], files: [] };
const ONE_FAILED: TestReport = { passed: 0, failed: 1, flaky: [], files: [] };

/** One program of the test run. Its own output stays above, as it comes. */
export interface Step {
  readonly name: string;
  /** A program of `node_modules/.bin`, and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** It is ended, with everything that it started, when it takes longer. */
  readonly withinSeconds: number;
  /** Where the program, Vitest, leaves its report; without one the step counts as one test. */
  readonly report?: string;
}

export async function runStep(step: Step): Promise<TestReport> {
  process.stdout.write(`\n── ${step.name}: ${step.command.join(" ")}\n`);
  const code = await exitCode(step);
  if (step.report === undefined) return code === 0 ? ONE_PASSED : ONE_FAILED;
  const report = readReport(step.report) ?? ONE_FAILED;
  // A run that fails without a failed test had an error outside of tests.
  return report.failed === 0 && code !== 0 ? { ...report, failed: 1 } : report;
}

const running = new Set<ChildProcess>();

/** Ends what runs now, with everything that it started. */
export function endRunning(): void {
  for (const { pid } of running) if (pid !== undefined) killGroup(pid);
}

function exitCode({ name, command: [program, ...args], withinSeconds, report }: Step): Promise<number | null> {
  // A group of its own, so that nothing of it is left behind.
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    detached: true,
    env: {
      ...process.env,
      PATH: [`${ROOT}node_modules/.bin`, process.env.PATH].join(delimiter),
      ...(report === undefined ? {} : { [REPORT_VARIABLE]: report }),
    },
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
