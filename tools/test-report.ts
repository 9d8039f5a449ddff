import { readFileSync, writeFileSync } from "node:fs";
import type { Reporter, TestCase, TestModule } from "vitest/node";

/** The results of a Vitest run that `npm test` uses. */
export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  /** Tests that failed and passed on retry, each with the error of its failure. */
  readonly flaky: readonly string[];
  readonly files: readonly { readonly name: string; readonly seconds: number }[];
}

/** Path of the report file. Without it the reporter writes nothing. */
export const REPORT_VARIABLE = "WEIR_TEST_REPORT";

export default class TestReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const path = process.env[REPORT_VARIABLE];
    if (path) writeFileSync(path, JSON.stringify(reportOf(modules)));
  }
}

/** Null if the run ended before it wrote its report. */
export function readReport(path: string): TestReport | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as TestReport;
  } catch {
    return null;
  }
}

function reportOf(modules: readonly TestModule[]): TestReport {
  const count = (module: TestModule, state: "passed" | "failed") => [...module.children.allTests(state)].length;
  // A file that cannot be loaded, or whose hook fails, has no failed test to count.
  const failed = (module: TestModule) => (module.ok() ? 0 : Math.max(1, count(module, "failed")));
  const sum = (numberOf: (module: TestModule) => number) => modules.reduce((total, one) => total + numberOf(one), 0);
  return {
    passed: sum((module) => count(module, "passed")),
    failed: sum(failed),
    flaky: modules.flatMap((module) =>
      [...module.children.allTests("passed")]
        .filter((test) => test.diagnostic()?.flaky)
        .map((test) => `${module.relativeModuleId} > ${test.fullName}${firstErrorOf(test)}`),
    ),
    files: modules.map((module) => ({
      name: module.relativeModuleId,
      seconds: module.diagnostic().duration / 1000,
    })),
  };
}

function firstErrorOf(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return error
    ? `\n    ${error.message}\n    ${error.stacks?.map(({ file, line }) => `${file}:${line}`)[0] ?? ""}`
    : "";
}
