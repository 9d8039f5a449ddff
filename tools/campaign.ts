import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { PLANTS } from "../apps/server/test/campaign/plants.ts";
import { shrunk } from "./shrunk.ts";
import { ROOT } from "./test-step.ts";

const HELP = `npm run campaign -- [options]

  --seed 1              the same seed makes the same faults; a list, 1,2,3, runs one after another
  --minutes 10          how long faults are made; about four a minute
  --only 3,7            only these faults of the seed
  --kinds NAME,NAME     choose from these faults only
  --processes 2         with so many media processes
  --from 9c6dabc        begins with the server of this commit, and upgrades it while somebody broadcasts
  --root FOLDER         the repository whose server is attacked (default: this one)
  --shrink              where a seed fails, or a planted mistake is found: leaves out faults while it goes on to, and prints those that are left
  --results FILE        adds a line for each seed to this table
  --plant NAME          plants a mistake into a copy of the server, which the run must find; all: one after another
                        ${Object.keys(PLANTS).join(", ")}
  --soak 1              counts in place of faults: 5,000 sessions, 200,000 viewer sessions, 100,000 events; 0.1: a tenth

One server with PostgreSQL and an S3 server, everything at once, and faults. After each of them, and at the end, looks whether what Weir
promises (docs/4-operate/guarantees.md) still holds. Ends with 1 where a promise is broken, or a planted mistake was not found.
`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    minutes: { type: "string" },
    only: { type: "string" },
    kinds: { type: "string" },
    processes: { type: "string" },
    from: { type: "string" },
    root: { type: "string" },
    shrink: { type: "boolean", default: false },
    results: { type: "string" },
    plant: { type: "string" },
    soak: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** What a run did: see `found` in run-found.ts. */
interface Found {
  readonly faults: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
  readonly broken: string;
}

interface Run extends Found {
  readonly isWhole: boolean;
  readonly seconds: number;
}

const PLANTED_MINUTES = "1";
/** A planted mistake is found within this. */
const FOUND_WITHIN_SECONDS = 300;
const COLUMNS = ["Seed", "Commit", "Run", "Faults", "Figures", "Broken"];

/** A mistake that is put into the server. */
type Planted = Readonly<{ plant?: string; kinds?: string | undefined }>;

if (values.help) process.stdout.write(HELP);
else if (values.plant) plantAll(values.plant === "all" ? Object.keys(PLANTS) : values.plant.split(","));
else for (const seed of values.seed.split(",")) campaign(seed);

function campaign(seed: string): void {
  const found = run(seed, values.only);
  if (values.results) note(values.results, seed, found);
  if (found.isWhole) return;
  process.exitCode = 1;
  if (values.shrink) shrink(seed, found);
}

function plantAll(names: readonly string[]): void {
  for (const name of names) {
    const planted = { plant: name, kinds: PLANTS[name]?.kinds.join() };
    const found = run(values.seed, values.only, planted);
    const { seconds, broken } = found;
    const isFound = isBroken(found) && seconds <= FOUND_WITHIN_SECONDS;
    if (!isFound) process.exitCode = 1;
    process.stdout.write(
      `${name}: ${isBroken(found) ? `found: ${oneLine(broken)}` : "NOT FOUND"}, after ${seconds} s\n`,
    );
    if (values.shrink) shrink(values.seed, found, planted);
  }
}

/** Prints the faults that a failed run fails with, without those that it also fails without. */
function shrink(seed: string, found: Run, planted: Planted = {}): void {
  const failsByFaults = (one: Run) => isBroken(one) && one.faults.length > 0;
  if (!failsByFaults(found)) return;
  const left = shrunk(found.faults.map(numberOf), (rest) => failsByFaults(run(seed, rest.join(), planted)));
  const names = found.faults.filter((fault) => left.includes(numberOf(fault)));
  const to = planted.plant ? `${planted.plant} is found by seed ${seed}` : `seed ${seed} fails`;
  process.stdout.write(`${to} with --only ${left.join(",")} alone:\n${names.join("\n")}\n`);
}

function numberOf(fault: string): string {
  return fault.split(" ")[0] ?? "";
}

/** A promise is broken, and not only something that kept the run from beginning. */
function isBroken({ isWhole, broken }: Run): boolean {
  return !isWhole && broken !== "";
}

function run(seed: string, only: string | undefined, planted: Planted = {}): Run {
  const { minutes, root, processes, from, soak } = values;
  const kinds = values.kinds ?? planted.kinds;
  const folder = mkdtempSync(join(tmpdir(), "weir-found-"));
  const path = join(folder, "found.json");
  const given = {
    SEED: seed,
    MINUTES: minutes ?? (planted.plant ? PLANTED_MINUTES : undefined),
    ONLY: only,
    ROOT: root,
    KINDS: kinds,
    PROCESSES: processes,
    FROM: from,
    SOAK: soak,
    PLANT: planted.plant,
    FOUND: path,
  };
  const set = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [[`CAMPAIGN_${name}`, value]],
  );
  const startedAt = performance.now();
  const file = soak ? "soak.campaign" : "campaign.campaign";
  const { status } = spawnSync(join(ROOT, "node_modules/.bin/vitest"), ["run", "--project", "campaign", file], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...process.env, ...Object.fromEntries(set) },
  });
  const nothing: Found = { faults: [], figures: {}, broken: "" };
  const found = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Found) : nothing;
  rmSync(folder, { recursive: true });
  return { ...found, isWhole: status === 0, seconds: Math.round((performance.now() - startedAt) / 1000) };
}

/** Adds a line to the table in a file, and makes the table where there is none. */
function note(file: string, seed: string, { faults, figures, broken, isWhole }: Run): void {
  if (!existsSync(file)) writeFileSync(file, `| ${COLUMNS.join(" | ")} |\n|${" --- |".repeat(COLUMNS.length)}\n`);
  const cwd = values.root ?? ROOT;
  const commit = execFileSync("git", ["describe", "--always", "--dirty"], { cwd, encoding: "utf8" }).trim();
  const counted = Object.entries(figures).map(([name, value]) => `${name} ${value}`);
  const told = isWhole ? "none" : oneLine(broken || "it did not run");
  const cells = [seed, commit, howRun(), String(faults.length), counted.join(", "), told];
  appendFileSync(file, `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`);
}

/** How long, and the options that make a run another one. */
function howRun(): string {
  const { minutes = "10", soak, processes, from, kinds, only } = values;
  const given = Object.entries({ processes, from, kinds, only }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${value}`],
  );
  return [soak === undefined ? `${minutes} min` : `--soak ${soak}`, ...given].join(" ");
}

/** Without the colours of a terminal. */
function oneLine(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/\s+/g, " ").slice(0, 300);
}
