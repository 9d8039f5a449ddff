import { readFileSync, writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

/** The results of a Vitest run that `npm test` uses. */
export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  /** What failed, each with its first error: tests, files that could not be loaded, errors outside the tests. */
  readonly failures: readonly string[];
  /** Tests that failed and passed on retry, each with the error of its failure. */
  readonly flaky: readonly string[];
  readonly files: readonly { readonly name: string; readonly seconds: number }[];
}

const DIFFERENCES_SHOWN = 12;

/** Path of the report file. Without it the reporter writes nothing. */
export const REPORT_VARIABLE = "WEIR_TEST_REPORT";

export default class TestReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const path = process.env[REPORT_VARIABLE];
    if (path) writeFileSync(path, JSON.stringify(reportOf(modules, unhandled)));
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

function reportOf(modules: readonly TestModule[], unhandled: readonly SerializedError[]): TestReport {
  const sum = (numberOf: (module: TestModule) => number) => modules.reduce((total, one) => total + numberOf(one), 0);
  const failures = [
    ...modules.flatMap(failuresOf),
    ...unhandled.map((error) => `outside the tests${firstOf([error])}`),
  ];
  return {
    passed: sum((module) => [...module.children.allTests("passed")].length),
    failed: failures.length,
    failures,
    flaky: modules.flatMap((module) =>
      [...module.children.allTests("passed")].filter((test) => test.diagnostic()?.flaky).map(nameAndError),
    ),
    files: modules.map((module) => ({
      name: module.relativeModuleId,
      seconds: module.diagnostic().duration / 1000,
    })),
  };
}

function failuresOf(module: TestModule): string[] {
  if (module.ok()) return [];
  const tests = [...module.children.allTests("failed")].map(nameAndError);
  // A file that cannot be loaded, or whose hook fails, has no failed test.
  return tests.length > 0 ? tests : [`${module.relativeModuleId}${firstOf(module.errors())}`];
}

function nameAndError(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}${firstOf(test.result().errors ?? [])}`;
}

function firstOf([error]: readonly SerializedError[]): string {
  if (!error) return "";
  const place = error.stacks?.map(({ file, line }) => `${file}:${line}`)[0] ?? "";
  return [error.message, ...differences(error), place].map((line) => `\n    ${line}`).join("");
}

/** What was expected and found, line by line: the message leaves out what is in an array or an object. */
function differences({ diff }: SerializedError): string[] {
  if (typeof diff !== "string") return [];
  const lines = stripVTControlCharacters(diff).split("\n");
  return lines.filter((line) => /^[-+] (?! *(?:Expected|Received)$)/.test(line)).slice(0, DIFFERENCES_SHOWN);
}
