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
import { startTwice } from "./bench-startup.ts";
import { measureTargets } from "./bench-targets.ts";
import { measureThumbnails } from "./bench-thumbnails.ts";
import { measureWebhooks } from "./bench-webhooks.ts";
import { withCheckout } from "./checkout.ts";
import { FiguresPage, PAGE } from "./figures.ts";
import { formatRow, machine, type Row } from "./report.ts";
import { SrtSenders } from "./srt-senders.ts";

const EVERYTHING =
  "publisher,startup,first,age,delivery,player,events,webhooks,targets,thumbnails,clips,feed,churn,rewind,ladder,ladder-quality,assets,nodes,ingest";
const COMPARED = "startup,delivery,viewers,ingest,ladder,churn";

const HELP = `npm run bench -- [options]

  --only ${EVERYTHING}
                                                    measurements to run (default: all)
  --only capacity [--mix 0|1|2]                     whether weir capacity predicts where parts come late: 15 minutes, two cores
  --viewers 500                                     viewers of a measurement of rewind
  --streams 1,10,50                                 numbers of simultaneous publishers
  --seconds 8                                       duration of an ingest measurement
  --ladder-seconds 60                               duration of a ladder measurement, more than 20
  --against COMMIT                                  compare this checkout with a commit, or with the folder of another installed
                                                    checkout: --only startup,delivery,viewers,ingest,ladder,churn (default: all of these);
                                                    with --only nodes, its database figures beside these
  --rounds 5                                        rounds of ladder-quality and assets, and of a comparison (default there: 12)
  --write [--anyway]                                write the figures into ${PAGE}, each measurement's with its
                                                    commit, date, machine, command and load; refuses on a busy machine (--anyway)
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
    write: { type: "boolean", default: false },
    anyway: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
/** Of each measurement, by name. */
const figures = new Map<string, Row[]>();
let page: FiguresPage | null = null;

if (options.help) process.stdout.write(HELP);
else await run();

async function run(): Promise<void> {
  const minutes = options.against ? LONGEST_COMPARISON_MINUTES : LONGEST_RUN_MINUTES;
  setTimeout(() => {
    process.stderr.write(`the bench exceeded ${minutes} minutes\n`);
    process.exit(1);
  }, minutes * 60_000).unref();
  if (options.against) return comparison(options.against);
  if (options.write) page = await FiguresPage.open([...EVERYTHING.split(","), "capacity"], options.anyway);
  const chosen = new Set(options.only.split(","));
  const rounds = Number(options.rounds ?? 5);
  const peers = options.peer.map(peerTarget);
  process.stdout.write(`${machine()}\n\n| What | Measured |\n| --- | --- |\n`);
  // Takes a quarter of an hour, so only when it is asked for.
  if (chosen.has("capacity")) return tell("capacity", ...(await measurePrediction(options.mix)));
  await withDataFolder(async (folder) => {
    const starts = await startTwice(folder);
    if (chosen.has("startup")) {
      tell(
        "startup",
        { what: "ready after a first start", value: starts.first, unit: "ms" },
        { what: "ready after a later start", value: starts.later, unit: "ms" },
      );
    }
    const clip = await makeClip();
    tell("publisher", { what: "what each publisher sends", value: clip.bitrateBps / 1e6, unit: "Mbit/s" });
    for (const [name, measure] of Object.entries(MEASUREMENTS)) {
      const env = name === "player" ? { WEIR_WEBRTC_PORT: "0" } : {};
      if (!chosen.has(name)) continue;
      await withServer(folder, async (server) => tell(name, ...(await measure(server, clip))), { env });
    }
    if (chosen.has("clips")) {
      const reordered = await makeClip(2);
      await withServer(folder, async (server) => tell("clips", ...(await measureClips(server, reordered))));
    }
    if (chosen.has("rewind"))
      await measureRewind(folder, clip, Number(options.viewers), (...rows) => tell("rewind", ...rows));
    if (chosen.has("feed")) tell("feed", ...(await measureFeed(clip)));
    if (chosen.has("ladder")) {
      const reordered = await makeClip(2);
      const seconds = Number(options["ladder-seconds"]);
      await withServer(folder, async (server) => tell("ladder", ...(await measureLadder(server, reordered, seconds))));
      await withServer(folder, async (server) =>
        tell("ladder", ...(await measureFullMachine(server, reordered, seconds))),
      );
    }
    if (chosen.has("ladder-quality")) tell("ladder-quality", ...(await measureLadderQuality(rounds)));
    if (chosen.has("assets")) tell("assets", ...(await measureAssets(rounds)));
    if (chosen.has("nodes")) tell("nodes", ...(await measureRows(clip)), ...(await measureFollowing(clip, rounds)));
    if (!chosen.has("ingest")) return;
    for (const count of options.streams.split(",").map(Number)) {
      const ingest = async (target: IngestTarget) =>
        tell("ingest", ...(await measureIngest(target, clip, count, Number(options.seconds))));
      // A new server for each count: memory allocated for an earlier one would count as baseline.
      await withServer(folder, (server) => ingest(weirTarget(server)));
      await withServer(folder, (server) => overSrt(server, clip, ingest), { srt: true });
      for (const peer of peers) await ingest(peer);
    }
  });
  tellJson();
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
    rounds: Number(options.rounds ?? 12),
    parts: new Set(options.only === EVERYTHING ? COMPARED.split(",") : options.only.split(",")),
    streams: Math.max(...options.streams.split(",").map(Number)),
    seconds: Number(options.seconds),
  };
  const clip = await makeClip();
  await compareVersions(clip, comparison, (...rows) => tell("against", ...rows));
  if (comparison.parts.has("nodes")) {
    tell("against", ...(await withCheckout(against, (root) => measureRows(clip, root, "the other version"))));
    tell("against", ...(await measureRows(clip, undefined, "this version")));
  }
  tellJson();
}

function tell(name: string, ...measured: readonly Row[]): void {
  const rows = [...(figures.get(name) ?? []), ...measured];
  figures.set(name, rows);
  for (const row of measured) process.stdout.write(`${formatRow(row)}\n`);
  page?.write(name, rows);
}

/** All figures as JSON, on one line. */
function tellJson(): void {
  process.stdout.write(`\n${JSON.stringify({ machine: machine(), options, rows: [...figures.values()].flat() })}\n`);
}
