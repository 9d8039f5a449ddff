import { type ChildProcess, spawn } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { REPORT_VARIABLE, readReport, type TestReport } from "./test-report.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

const ONE_PASSED: TestReport = { passed: 1, failed: 0, flaky: [], files: [] };
const ONE_FAILED: TestReport = { passed: 0, failed: 1, flaky: [], files: [] };

/** One program of the test run. */
export interface Step {
  readonly name: string;
  /** A program of `node_modules/.bin`, and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** It is ended, with everything that it started, when it takes longer. */
  readonly withinSeconds: number;
  /** Where the program, Vitest, leaves its report; without one the step counts as one test. */
  readonly report?: string;
}

/** The program's own output comes as it is written, or `beside` others in one piece at its end. */
export async function runStep(step: Step, output: "as-written" | "beside" = "as-written"): Promise<TestReport> {
  const heading = `\n── ${step.name}: ${step.command.join(" ")}\n`;
  if (output === "as-written") process.stdout.write(heading);
  const { code, text } = await run(step, output === "beside");
  if (output === "beside") process.stdout.write(heading + text);
  if (step.report === undefined) return code === 0 ? ONE_PASSED : ONE_FAILED;
  const report = readReport(step.report) ?? ONE_FAILED;
  // A run that fails without a failed test had an error outside of tests.
  return report.failed === 0 && code !== 0 ? { ...report, failed: 1 } : report;
}

const running = new Set<ChildProcess>();

/** Ends what runs now, with everything that it started. */
export function endRunning(): void {
  for (const child of running) killGroup(child);
}

interface Outcome {
  /** Null where the program was ended, or never started. */
  readonly code: number | null;
  /** Its output, where that was held back. */
  readonly text: string;
}

function run({ name, command: [program, ...args], withinSeconds, report }: Step, isHeld: boolean): Promise<Outcome> {
  const output = isHeld ? "pipe" : "inherit";
  // A group of its own, so that nothing of it is left behind.
  const child = spawn(program, args, {
    cwd: ROOT,
    stdio: ["ignore", output, output],
    detached: true,
    env: {
      ...process.env,
      PATH: [`${ROOT}node_modules/.bin`, process.env.PATH].join(delimiter),
      ...(report === undefined ? {} : { [REPORT_VARIABLE]: report }),
    },
  });
  const held: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => held.push(chunk));
  running.add(child);
  const deadline = setTimeout(() => {
    process.stdout.write(`${name} took longer than ${withinSeconds} s and was ended\n`);
    killGroup(child);
  }, withinSeconds * 1000);
  return new Promise((resolve) => {
    const settle = (code: number | null): void => {
      clearTimeout(deadline);
      running.delete(child);
      resolve({ code, text: Buffer.concat(held).toString() });
    };
    child.once("error", (error) => {
      process.stdout.write(`${name} could not be started: ${error.message}\n`);
      settle(null);
    });
    // A program that it left running could hold its output open.
    child.once("exit", () => killGroup(child));
    child.once("close", settle);
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}
