import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { addToCorpus } from "./corpus.ts";
import { MAX_INPUT_BYTES } from "./fuzz-target.ts";
import type { FuzzOrder, FuzzReport } from "./fuzz-thread.ts";
import { ReadingSince, TOO_LONG, watchFor } from "./hang-watch.ts";
import { TARGETS, targetNamed } from "./targets.ts";

const HELP = `npm run fuzz -- [options] [TARGET …]

  --inputs 200000     inputs for each target
  --seed 1            the same seed makes the same inputs of the same corpus
  --keep              adds inputs that reach new code to the corpus, which npm test replays

Targets: ${TARGETS.map(({ name }) => name).join(", ")} (default: all).
Prints a Markdown row for each target. The input of a finding is added to the corpus. A finding ends the run with 1.
`;

/** What a thread may keep: more inputs in its corpus, and compiled code. */
const MOST_GROWN_BYTES = 32 * 1024 * 1024;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    inputs: { type: "string", default: "200000" },
    seed: { type: "string", default: "1" },
    keep: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else await fuzzAll();

async function fuzzAll(): Promise<void> {
  const names = positionals.length > 0 ? positionals : TARGETS.map(({ name }) => name);
  for (const name of names) targetNamed(name);
  process.stdout.write(
    "| Target | Inputs | Seconds | Characters of code | Kept | Findings |\n| --- | --- | --- | --- | --- | --- |\n",
  );
  let [inputs, findings] = [0, 0];
  for (const name of names) {
    const began = performance.now();
    const result = await fuzz(name);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    process.stdout.write(
      `| ${name} | ${result.inputs} | ${seconds} | ${result.characters} | ${result.kept} | ${result.findings} |\n`,
    );
    inputs += result.inputs;
    findings += result.findings;
  }
  process.stdout.write(`\n${inputs} inputs of seed ${values.seed}, ${findings} findings\n`);
  if (findings > 0) process.exitCode = 1;
}

interface Result {
  inputs: number;
  characters: number;
  kept: number;
  findings: number;
}

function fuzz(target: string): Promise<Result> {
  const at = new Int32Array(new SharedArrayBuffer(4));
  const reading = new ReadingSince();
  const current = new Uint8Array(new SharedArrayBuffer(4 + MAX_INPUT_BYTES));
  const [seed, inputs] = [Number(values.seed), Number(values.inputs)];
  const order: FuzzOrder = { target, seed, inputs, at, since: reading.shared, current };
  const result: Result = { inputs: 0, characters: 0, kept: 0, findings: 0 };
  const told = new Set<string>();
  const find = (error: string, input: Uint8Array | null): void => {
    result.findings++;
    // The same place is told once.
    const place = error.split("\n").slice(0, 2).join();
    if (told.has(place)) return;
    told.add(place);
    process.stderr.write(`${target}: ${error}\n${input ? `  input: ${addToCorpus(target, input)}\n` : ""}`);
  };
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL("fuzz-thread.ts", import.meta.url), { workerData: order });
    const watch = watchFor(reading, () => {
      // What it says from now on is about the same input.
      thread.removeAllListeners("message");
      find(TOO_LONG, currentOf(current));
      result.inputs = Atomics.load(at, 0);
      void thread.terminate();
    });
    thread.on("message", (report: FuzzReport) => {
      if (report.type === "finding") find(report.error, report.input);
      else if (report.type === "kept") {
        result.kept++;
        if (values.keep) addToCorpus(target, report.input);
      } else {
        Object.assign(result, { inputs: report.inputs, characters: report.characters });
        // All inputs together made it grow.
        if (report.grownBytes > MOST_GROWN_BYTES)
          find(`memory grew by ${Math.round(report.grownBytes / 2 ** 20)} MiB`, null);
      }
    });
    thread.on("error", (error) => {
      clearInterval(watch);
      reject(error);
    });
    thread.on("exit", () => {
      clearInterval(watch);
      resolve(result);
    });
  });
}

function currentOf(current: Uint8Array): Uint8Array {
  const bytes = new DataView(current.buffer).getUint32(0);
  return current.slice(4, 4 + bytes);
}
