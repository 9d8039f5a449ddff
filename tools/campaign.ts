import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "./test-step.ts";

const HELP = `npm run campaign -- [options]

  --seed 1              the same seed makes the same faults; a list, 1,2,3, runs one after another
  --minutes 10          how long faults are made; about four a minute
  --only 3,7            only these faults of the seed
  --root FOLDER         the repository whose server is attacked (default: this one)
  --shrink              where a seed fails: leaves out faults while it goes on to fail, and prints those that are left

One server with PostgreSQL and an S3 server, everything at once, and faults. After each of them, and at the end, looks whether what Weir
promises (docs/4-operate/guarantees.md) still holds. Ends with 1 where a promise is broken.
`;

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "10" },
    only: { type: "string" },
    root: { type: "string" },
    shrink: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else for (const seed of values.seed.split(",")) campaign(seed);

function campaign(seed: string): void {
  if (holds(seed, values.only)) return;
  process.exitCode = 1;
  if (!values.shrink) return;
  // About as many as fit into the time.
  const all = values.only?.split(",") ?? Array.from({ length: Number(values.minutes) * 6 }, (_, i) => String(i + 1));
  process.stdout.write(`seed ${seed} fails with the faults ${shrunk(seed, all).join(",")} alone\n`);
}

/** The fewest faults, by halves, with which the seed fails. */
function shrunk(seed: string, faults: readonly string[]): readonly string[] {
  if (faults.length <= 1) return faults;
  const middle = faults.length >> 1;
  const half = [faults.slice(0, middle), faults.slice(middle)].find((some) => !holds(seed, some.join()));
  return half ? shrunk(seed, half) : faults;
}

function holds(seed: string, only: string | undefined): boolean {
  const { minutes, root } = values;
  const env = { ...process.env, CAMPAIGN_SEED: seed, CAMPAIGN_MINUTES: minutes };
  const { status } = spawnSync(join(ROOT, "node_modules/.bin/vitest"), ["run", "--project", "campaign"], {
    cwd: ROOT,
    stdio: "inherit",
    env: { ...env, ...(only ? { CAMPAIGN_ONLY: only } : {}), ...(root ? { CAMPAIGN_ROOT: root } : {}) },
  });
  return status === 0;
}
