import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { promisify } from "node:util";
import { type Command, InvalidArgumentError } from "commander";
import type { CapacityReport, CarriedPart, Mix, MixPart } from "../../roles/capacity/capacity.ts";
import { Cli } from "../cli.ts";
import { CliError } from "../exit-codes.ts";

interface CapacityOptions {
  readonly anyway?: boolean;
  readonly mix?: Mix;
  readonly serverCores?: string;
  readonly loadCores?: string;
  readonly markdown?: boolean;
}

const NAMES: Readonly<Record<MixPart, string>> = {
  streams: "streams, source quality only",
  ladders: "streams with a ladder (480p, 360p)",
  hlsViewers: "viewers over low-latency HLS",
  whepViewers: "viewers over WebRTC (WHEP)",
};
const LIMITS: Readonly<Record<CarriedPart["limit"], string>> = {
  cores: "all cores",
  mainThread: "the server's main thread, which uses one core",
  webrtcThread: "the WebRTC process, which uses one core",
  bytes: "memory",
  lateMs: "viewers who ask for the same part at the same time",
};
const MIX_NAMES: Readonly<Record<string, MixPart>> = {
  streams: "streams",
  ladders: "ladders",
  hls: "hlsViewers",
  whep: "whepViewers",
};

/** `weir capacity` */
export function capacityCommand(program: Command): void {
  program
    .command("capacity")
    .description(
      "measure for about four minutes how many streams, ladders and viewers this machine carries, with a server of its own that it removes again",
    )
    .option("--mix <numbers>", "say whether this fits: streams=20,ladders=2,hls=500,whep=50", mixOf)
    .option("--anyway", "measure although other programs use the machine")
    .option("--server-cores <list>", "measure a server that has these cores only, such as 0 or 0-3", coreList)
    .option("--load-cores <list>", "make the load on these cores only", coreList)
    .option("--markdown", "print a table for a page, with the machine and the version")
    .action(async (options: CapacityOptions, command: Command) => {
      const cli = new Cli(command);
      const { measureCapacity } = await import("../../roles/capacity/capacity.ts");
      const stopping = new AbortController();
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
      const report = await measureCapacity({
        serverCores: options.serverCores,
        loadCores: options.loadCores,
        anyway: options.anyway === true,
        mix: options.mix ?? null,
        signal: stopping.signal,
        onProgress: (what, fraction) => cli.progress.show(what, fraction),
      })
        .catch((error: Error) => {
          if (stopping.signal.aborted) throw new CliError("stopped; what was started for it is removed");
          throw error;
        })
        .finally(() => cli.progress.clear());
      if (cli.print.isJson) return cli.print.line(JSON.stringify(report, null, 2));
      if (options.markdown) return cli.print.line(await markdownOf(report));
      show(cli, report);
    });
}

function show({ print }: Cli, { parts, cores, mix, settings, bitrateBps }: CapacityReport): void {
  const source = `720p30, ${(bitrateBps / 1e6).toFixed(1)} Mbit/s`;
  print.line(
    `On ${cores} ${cores === 1 ? "core" : "cores"}, with sources of ${source}, until the machine is used up or parts come 200 ms late:\n`,
  );
  print.table(
    rowsOf(parts),
    [
      { title: "ONE KIND ALONE", of: ({ name }) => name },
      { title: "CARRIED", of: ({ count }) => count },
      { title: "PLAN WITH", of: ({ advised }) => advised },
      { title: "MBIT/S", of: ({ advised, megabitsPerSecond }) => Math.round(advised * megabitsPerSecond) },
      { title: "LIMIT", of: ({ limit }) => LIMITS[limit] },
    ],
    "",
  );
  if (mix) {
    const verdict = mix.times >= 1 ? "fits" : "does not fit";
    print.line(
      `\nThe mix ${verdict}: ${mix.times.toFixed(2)} times of it are carried; the limit is ${LIMITS[mix.limit]}.`,
    );
  }
  print.line(`\nSettings:\n${settings.map((setting) => `  ${setting}`).join("\n")}`);
}

interface Row extends CarriedPart {
  readonly name: string;
}

const rowsOf = (parts: CapacityReport["parts"]): Row[] =>
  (Object.keys(NAMES) as MixPart[]).map((part) => ({ name: NAMES[part], ...parts[part] }));

async function markdownOf({ parts, cores, memoryBytes }: CapacityReport): Promise<string> {
  const [first] = cpus();
  const machine = `${cores} of ${cpus().length} × ${first?.model.trim() ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GiB (${Math.round(memoryBytes / 2 ** 30)} free), Linux ${release()}, Node ${process.version}`;
  const rows = rowsOf(parts).map(
    ({ name, count, advised, cores: each, megabytes, limit }) =>
      `| ${name} | ${count} | ${advised} | ${(each * 1000).toFixed(2)} | ${megabytes.toFixed(1)} | ${LIMITS[limit]} |`,
  );
  return [
    `Measured by \`weir ${process.argv.slice(2).join(" ")}\` with ${await versionOf()} on ${new Date().toISOString().slice(0, 10)}: ${machine}.`,
    "",
    "| One kind alone | Carried | Plan with | Thousandths of a core each | MB each | Limit |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

/** The version, and in a clone its commit. */
async function versionOf(): Promise<string> {
  const manifest = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const cwd = new URL(".", import.meta.url).pathname;
  const commit = await promisify(execFile)("git", ["rev-parse", "--short", "HEAD"], { cwd }).then(
    ({ stdout }) => `, commit ${stdout.trim()}`,
    () => "",
  );
  return `Weir ${version}${commit}`;
}

function mixOf(text: string): Mix {
  const mix: Record<MixPart, number> = { streams: 0, ladders: 0, hlsViewers: 0, whepViewers: 0 };
  for (const one of text.split(",")) {
    const [, name = "", count] = /^(\w+)=(\d{1,6})$/.exec(one.trim()) ?? [];
    const part = MIX_NAMES[name];
    if (part === undefined) throw new InvalidArgumentError("Give numbers such as streams=20,ladders=2,hls=500,whep=50");
    mix[part] = Number(count);
  }
  return mix;
}

function coreList(text: string): string {
  if (/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(text)) return text;
  throw new InvalidArgumentError("Give cores such as 0, 0-3 or 0,2");
}
