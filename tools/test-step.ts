import { type ChildProcess, spawn } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { REPORT_VARIABLE, readReport, type TestReport } from "./test-report.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

const ONE_PASSED: TestReport = { passed: 1, failed: 0, failures: [], flaky: [], files: [] };
const oneFailed = (failure: string): TestReport => ({ ...ONE_PASSED, passed: 0, failed: 1, failures: [failure] });

/** One program of the test run. */
export interface Step {
  readonly name: string;
  /** A program in `node_modules/.bin` and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Time limit; afterwards the program and all its descendants are killed. */
  readonly withinSeconds: number;
  /** Where Vitest writes its report. A step without one counts as one test. */
  readonly report?: string;
}

/** Prints the program's output as it is written, or (`beside`) in one piece at the end, for steps that run in parallel. */
export async function runStep(step: Step, output: "as-written" | "beside" = "as-written"): Promise<TestReport> {
  const heading = `\n── ${step.name}: ${step.command.join(" ")}\n`;
  if (output === "as-written") process.stdout.write(heading);
  const { code, text } = await run(step, output === "beside");
  if (output === "beside") process.stdout.write(heading + text);
  if (step.report === undefined) return code === 0 ? ONE_PASSED : oneFailed(step.name);
  const report = readReport(step.report) ?? oneFailed(`${step.name}: it wrote no report`);
  if (report.failed > 0 || code === 0) return report;
  return { ...report, failed: 1, failures: [`${step.name}: it ended with ${code ?? "a signal"} after its last test`] };
}

const running = new Set<ChildProcess>();

/** Kills the running steps and all their descendants. */
export function endRunning(): void {
  for (const child of running) killGroup(child);
}

interface Outcome {
  /** Null if the program was killed or could not be started. */
  readonly code: number | null;
  /** The output, if it was buffered. */
  readonly text: string;
}

function run({ name, command: [program, ...args], withinSeconds, report }: Step, isHeld: boolean): Promise<Outcome> {
  const output = isHeld ? "pipe" : "inherit";
  // A process group, so that no descendant survives.
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
    process.stdout.write(`${name} exceeded ${withinSeconds} s and was killed\n`);
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
    // A process that it left running could hold its output open.
    child.once("exit", () => killGroup(child));
    child.once("close", settle);
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The whole group has exited.
  }
}
