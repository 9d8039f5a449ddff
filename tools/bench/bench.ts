import { parseArgs } from "node:util";
import { type Clip, makeClip } from "../../apps/server/src/roles/capacity/clip.ts";
import { measureAssets } from "./bench-assets.ts";
import { measurePrediction } from "./bench-capacity.ts";
import { measureChurn } from "./bench-churn.ts";
import { measureClips } from "./bench-clips.ts";
import { compareVersions } from "./bench-compare.ts";
import { measureDelivery } from "./bench-delivery.ts";
import { measureEvents } from "./bench-events.ts";
import { measureFeed } from "./bench-feed.ts";
import { type IngestTarget, measureIngest, peerTarget, srtTarget, weirTarget } from "./bench-ingest.ts";
import { measureFullMachine, measureLadder } from "./bench-ladder.ts";
import { measureLadderQuality } from "./bench-ladder-quality.ts";
import { measureFirstPart, measurePartAge } from "./bench-latency.ts";
import { measureFollowing, measureRows } from "./bench-nodes.ts";
import { measurePlayer } from "./bench-player.ts";
import { measureRewind } from "./bench-rewind.ts";
import { type BenchServer, withDataFolder, withServer } from "./bench-server.ts";
import { measureTargets } from "./bench-targets.ts";
import { measureThumbnails } from "./bench-thumbnails.ts";
import { measureWebhooks } from "./bench-webhooks.ts";
import { withCheckout } from "./checkout.ts";
import { formatRow, machine, type Row } from "./report.ts";
import { SrtSenders } from "./srt-senders.ts";

const EVERYTHING =
  "startup,first,age,delivery,player,events,webhooks,targets,thumbnails,clips,feed,churn,rewind,ladder,ladder-quality,assets,nodes,ingest";
const COMPARED = "delivery,viewers,ingest,ladder,churn";

const HELP = `npm run bench -- [options]

  --only ${EVERYTHING}
                                                    measurements to run (default: all)
  --only capacity [--mix 0|1|2]                     whether weir capacity predicts where parts come late: 15 minutes, two cores
  --viewers 500                                     viewers of a measurement of rewind
  --streams 1,10,50                                 numbers of simultaneous publishers
  --seconds 8                                       duration of an ingest measurement
  --ladder-seconds 60                               duration of a ladder measurement, more than 20
  --against COMMIT                                  compare this checkout with a commit, or with the folder of another installed
                                                    checkout: --only delivery,viewers,ingest,ladder,churn (default: all of these);
                                                    with --only nodes, its database figures beside these
  --rounds 5                                        rounds of ladder-quality and assets, and of a comparison (default there: 11)
  --peer NAME=rtmp://127.0.0.1:port/app/{n},pid     a running server to include in the ingest measurements

Prints each result as a Markdown row, and all results as JSON on the last line. Loopback only; Linux only.
`;

const MEASUREMENTS = {
  first: measureFirstPart,
  age: measurePartAge,
  delivery: measureDelivery,
  player: measurePlayer,
  events: measureEvents,
  webhooks: measureWebhooks,
  targets: measureTargets,
  thumbnails: measureThumbnails,
  churn: measureChurn,
};

/** Ends the run if a measurement hangs. */
const LONGEST_RUN_MINUTES = 30;
const LONGEST_COMPARISON_MINUTES = 180;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: EVERYTHING },
    streams: { type: "string", default: "1,10,50" },
    seconds: { type: "string", default: "8" },
    peer: { type: "string", multiple: true, default: [] },
    against: { type: "string" },
    rounds: { type: "string" },
    "ladder-seconds": { type: "string", default: "60" },
    mix: { type: "string" },
    viewers: { type: "string", default: "500" },
    help: { type: "boolean", default: false },
  },
});
const rows: Row[] = [];

if (options.help) process.stdout.write(HELP);
else await run();

async function run(): Promise<void> {
  const minutes = options.against ? LONGEST_COMPARISON_MINUTES : LONGEST_RUN_MINUTES;
  setTimeout(() => {
    process.stderr.write(`the bench exceeded ${minutes} minutes\n`);
    process.exit(1);
  }, minutes * 60_000).unref();
  if (options.against) return comparison(options.against);
  const chosen = new Set(options.only.split(","));
  const rounds = Number(options.rounds ?? 5);
  const peers = options.peer.map(peerTarget);
  process.stdout.write(`${machine()}\n\n| What | Measured |\n| --- | --- |\n`);
  // Takes a quarter of an hour, so only when it is asked for.
  if (chosen.has("capacity")) return tell(...(await measurePrediction(options.mix)));
  await withDataFolder(async (folder) => {
    const startMs = [0, 0];
    for (const nth of startMs.keys()) {
      await withServer(folder, async (server) => {
        startMs[nth] = server.startMs;
      });
    }
    if (chosen.has("startup")) {
      tell({ what: "ready after a first start", value: startMs[0] ?? 0, unit: "ms" });
      tell({ what: "ready after a later start", value: startMs[1] ?? 0, unit: "ms" });
    }
    const clip = await makeClip();
    tell({ what: "what each publisher sends", value: clip.bitrateBps / 1e6, unit: "Mbit/s" });
    for (const [name, measure] of Object.entries(MEASUREMENTS)) {
      if (chosen.has(name)) await withServer(folder, async (server) => tell(...(await measure(server, clip))));
    }
    if (chosen.has("clips")) {
      const reordered = await makeClip(2);
      await withServer(folder, async (server) => tell(...(await measureClips(server, reordered))));
    }
    if (chosen.has("rewind")) tell(...(await measureRewind(folder, clip, Number(options.viewers))));
    if (chosen.has("feed")) tell(...(await measureFeed(clip)));
    if (chosen.has("ladder")) {
      const reordered = await makeClip(2);
      const seconds = Number(options["ladder-seconds"]);
      await withServer(folder, async (server) => tell(...(await measureLadder(server, reordered, seconds))));
      await withServer(folder, async (server) => tell(...(await measureFullMachine(server, reordered, seconds))));
    }
    if (chosen.has("ladder-quality")) tell(...(await measureLadderQuality(rounds)));
    if (chosen.has("assets")) tell(...(await measureAssets(rounds)));
    if (chosen.has("nodes")) tell(...(await measureRows(clip)), ...(await measureFollowing(clip, rounds)));
    if (!chosen.has("ingest")) return;
    for (const count of options.streams.split(",").map(Number)) {
      const ingest = async (target: IngestTarget) =>
        tell(...(await measureIngest(target, clip, count, Number(options.seconds))));
      // A new server for each count: memory allocated for an earlier one would count as baseline.
      await withServer(folder, (server) => ingest(weirTarget(server)));
      await withServer(folder, (server) => overSrt(server, clip, ingest), { srt: true });
      for (const peer of peers) await ingest(peer);
    }
  });
  process.stdout.write(`\n${JSON.stringify({ machine: machine(), options, rows })}\n`);
}

async function overSrt(
  server: BenchServer,
  clip: Clip,
  ingest: (target: IngestTarget) => Promise<void> | void,
): Promise<void> {
  const senders = new SrtSenders(clip);
  try {
    await ingest(srtTarget(server, senders));
  } finally {
    await senders.close();
  }
}

async function comparison(against: string): Promise<void> {
  process.stdout.write(`${machine()}\n\n| What | Measured |\n| --- | --- |\n`);
  const comparison = {
    against,
    rounds: Number(options.rounds ?? 11),
    parts: new Set(options.only === EVERYTHING ? COMPARED.split(",") : options.only.split(",")),
    streams: Math.max(...options.streams.split(",").map(Number)),
    seconds: Number(options.seconds),
  };
  const clip = await makeClip();
  await compareVersions(clip, comparison, tell);
  if (comparison.parts.has("nodes")) {
    tell(...(await withCheckout(against, (root) => measureRows(clip, root, "the other version"))));
    tell(...(await measureRows(clip, undefined, "this version")));
  }
  process.stdout.write(`\n${JSON.stringify({ machine: machine(), options, rows })}\n`);
}

function tell(...measured: readonly Row[]): void {
  rows.push(...measured);
  for (const row of measured) process.stdout.write(`${formatRow(row)}\n`);
}
