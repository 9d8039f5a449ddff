import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./test-step.ts";

/** The outcome of one attack: one row of the table at the end of `npm run test:hostile`. */
interface Attack {
  readonly title: string;
  readonly status: string;
  readonly duration?: number;
  readonly meta?: { readonly measured?: readonly string[] };
}

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly Attack[];
  }[];
}

const folder = mkdtempSync(join(tmpdir(), "weir-hostile-"));
const report = join(folder, "report.json");
const vitest = spawnSync(
  join(ROOT, "node_modules/.bin/vitest"),
  [
    ...["run", "--project", "hostile", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`],
    ...process.argv.slice(2),
  ],
  { cwd: ROOT, stdio: "inherit" },
);
const files = (JSON.parse(readFileSync(report, "utf8")) as VitestReport).testResults;
rmSync(folder, { recursive: true });

// A file that could not be loaded, or whose server did not start, counts as a failed attack.
const attacks = files.flatMap(({ name, message, assertionResults }): readonly Attack[] =>
  assertionResults.length > 0 ? assertionResults : [{ title: `${name}: ${message}`, status: "failed" }],
);
const held = attacks.filter(({ status }) => status === "passed").length;
process.stdout.write("\n| Attack | Outcome | Measured | Seconds |\n| --- | --- | --- | --- |\n");
for (const { title, status, duration, meta } of attacks) {
  const outcome = status === "passed" ? "held" : status === "failed" ? "**failed**" : status;
  const seconds = duration === undefined ? "" : (duration / 1000).toFixed(0);
  process.stdout.write(`| ${title} | ${outcome} | ${meta?.measured?.join("; ") ?? ""} | ${seconds} |\n`);
}
process.stdout.write(`\n${held} of ${attacks.length} held\n`);
process.exitCode = vitest.status === 0 && attacks.length > 0 ? 0 : 1;
