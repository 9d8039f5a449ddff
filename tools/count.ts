// node tools/count.ts [revision ...]: lines of source by area, without tests, at each revision (default: HEAD).
import { execFileSync } from "node:child_process";
import { isTest, ROOT } from "./source-files.ts";

/** Longest prefix first: a file counts where it matches first. */
const AREAS = [
  ...["media", "domains", "platform", "roles", "ports", ""].map((folder) => `apps/server/src/${folder}`),
  ...["apps/dashboard/src/", "packages/contract/src/", "packages/formats/src/", "packages/client/src/", "tools/"],
];

interface Count {
  readonly files: number;
  readonly lines: number;
}

const revisions = process.argv.length > 2 ? process.argv.slice(2) : ["HEAD"];
const counts = revisions.map((revision) => countLines(revision));
const rows = [
  ["area", ...revisions.flatMap((revision) => [revision, "files"])],
  ...AREAS.map((area) => [area, ...counts.flatMap((count) => cells(count.get(area)))]),
  ["the server", ...counts.flatMap((count) => cells(sum(count, "apps/server/src/")))],
  ["all", ...counts.flatMap((count) => cells(sum(count, "")))],
];
process.stdout.write(`${rows.map(([name = "", ...rest]) => line(name, rest)).join("\n")}\n`);

/** Lines by area at a revision. Throws for an unknown revision. */
function countLines(revision: string): Map<string, Count> {
  const options = { cwd: ROOT, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  // One line each: revision:path:lines
  const output = execFileSync("git", ["grep", "--count", "", revision, "--", "*.ts", "*.tsx"], options);
  const counts = new Map<string, Count>();
  for (const [, path = "", lines] of output.matchAll(/^[^:]+:(.+):(\d+)$/gm)) {
    const area = AREAS.find((prefix) => path.startsWith(prefix));
    if (area === undefined || isTest(path)) continue;
    const { files, lines: before } = counts.get(area) ?? { files: 0, lines: 0 };
    counts.set(area, { files: files + 1, lines: before + Number(lines) });
  }
  return counts;
}

function sum(counts: ReadonlyMap<string, Count>, prefix: string): Count {
  const within = [...counts].filter(([area]) => area.startsWith(prefix)).map(([, count]) => count);
  return {
    files: within.reduce((total, { files }) => total + files, 0),
    lines: within.reduce((total, { lines }) => total + lines, 0),
  };
}

function cells(count: Count = { files: 0, lines: 0 }): string[] {
  return [count.lines.toLocaleString("en"), String(count.files)];
}

function line(name: string, rest: readonly string[]): string {
  return name.padEnd(28) + rest.map((cell) => cell.slice(0, 11).padStart(12)).join("");
}
