import { parseArgs } from "node:util";
import { measureDelivery } from "./bench-delivery.ts";
import { measureIngest, peerTarget, weirTarget } from "./bench-ingest.ts";
import { measureFirstPart, measurePartAge } from "./bench-latency.ts";
import { measurePlayer } from "./bench-player.ts";
import { BenchServer, withDataFolder } from "./bench-server.ts";
import { makeClip } from "./clip.ts";
import { formatRow, machine, type Row } from "./report.ts";

const HELP = `npm run bench -- [options]

  --only startup,first,age,delivery,player,ingest   what to measure; all by default
  --streams 1,10,50                                 how many publishers at once
  --seconds 8                                       how long ingest is watched
  --peer NAME=rtmp://127.0.0.1:port/app/{n},pid     another server that runs already, beside ours in the ingest rows

Prints Markdown rows as they come, and all of them as JSON on the last line. Loopback only; Linux only.
`;

/** Whatever hangs, a run ends. */
const LONGEST_RUN_MS = 20 * 60_000;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "startup,first,age,delivery,player,ingest" },
    streams: { type: "string", default: "1,10,50" },
    seconds: { type: "string", default: "8" },
    peer: { type: "string", multiple: true, default: [] },
    help: { type: "boolean", default: false },
  },
});
const rows: Row[] = [];

if (options.help) process.stdout.write(HELP);
else await run();

async function run(): Promise<void> {
  setTimeout(() => {
    process.stderr.write("the bench took too long\n");
    process.exit(1);
  }, LONGEST_RUN_MS).unref();
  const chosen = new Set(options.only.split(","));
  const peers = options.peer.map(peerTarget);
  process.stdout.write(`${machine()}\n\n| What | Measured |\n| --- | --- |\n`);
  await withDataFolder(async (folder) => {
    const first = await BenchServer.start(folder);
    await first.stop();
    const server = await BenchServer.start(folder);
    try {
      if (chosen.has("startup")) {
        tell({ what: "ready after a first start", value: first.startMs, unit: "ms" });
        tell({ what: "ready after a later start", value: server.startMs, unit: "ms" });
      }
      const clip = await makeClip();
      tell({ what: "what each publisher sends", value: clip.bitrateBps / 1e6, unit: "Mbit/s" });
      if (chosen.has("first")) tell(...(await measureFirstPart(server, clip)));
      if (chosen.has("age")) tell(...(await measurePartAge(server, clip)));
      if (chosen.has("delivery")) tell(...(await measureDelivery(server, clip)));
      if (chosen.has("player")) tell(...(await measurePlayer(server, clip)));
      if (!chosen.has("ingest")) return;
      for (const count of options.streams.split(",").map(Number)) {
        for (const target of [weirTarget(server), ...peers]) {
          tell(...(await measureIngest(target, clip, count, Number(options.seconds))));
        }
      }
    } finally {
      await server.stop();
    }
  });
  process.stdout.write(`\n${JSON.stringify({ machine: machine(), options, rows })}\n`);
}

function tell(...measured: readonly Row[]): void {
  rows.push(...measured);
  for (const row of measured) process.stdout.write(`${formatRow(row)}\n`);
}
