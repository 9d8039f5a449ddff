import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { costPerGigabyte, costPerRequest, newestSegment } from "./bench-delivery.ts";
import { measureIngest, weirTarget } from "./bench-ingest.ts";
import { type BenchServer, withDataFolder, withServer } from "./bench-server.ts";
import type { Clip } from "./clip.ts";
import { fetchBytes, videoPlaylistUrl } from "./hls-reader.ts";
import { load } from "./load.ts";
import { median, type Row } from "./report.ts";
import { RtmpSender } from "./rtmp-sender.ts";

const STREAMS = 50;
const SECONDS = 10;
const LISTED_AFTER_MS = 8_000;
const WARM_CONNECTIONS = 16;
const WARM_SECONDS = 3;

interface Comparison {
  readonly against: string;
  readonly rounds: number;
  /** Which comparisons to run: `delivery`, `ingest`. */
  readonly parts: ReadonlySet<string>;
}

/** Compares this checkout with the one in `against`, measured alternately on one machine, so that background load affects both equally. */
export async function compareVersions(clip: Clip, { against, rounds, parts }: Comparison): Promise<Row[]> {
  const other = resolve(against);
  return [
    ...(parts.has("delivery") ? await compareDelivery(clip, other, rounds) : []),
    ...(parts.has("ingest") ? await compareIngest(clip, other, rounds) : []),
  ];
}

/** Both servers run at the same time, each with one live stream. Only one of them receives requests at a time. */
async function compareDelivery(clip: Clip, other: string, rounds: number): Promise<Row[]> {
  return onServer(undefined, clip, (here) =>
    onServer(other, clip, async (there) => [
      ...(await inTurns("live playlist, CPU per request", "µs", rounds, [here.playlist, there.playlist])),
      ...(await inTurns("segment, CPU per GB", "s", rounds, [here.segment, there.segment])),
    ]),
  );
}

/** Each measurement starts a new server: memory allocated by an earlier one would count as baseline. */
function compareIngest(clip: Clip, other: string, rounds: number): Promise<Row[]> {
  const measure = (root?: string) => async () =>
    withDataFolder((folder) =>
      withServer(
        folder,
        async (server) => (await measureIngest(weirTarget(server), clip, STREAMS, SECONDS))[0]?.value ?? Number.NaN,
        root,
      ),
    );
  const what = `${STREAMS} publishers, CPU per stream`;
  return inTurns(what, "thousandths of a core", rounds, [measure(), measure(other)]);
}

type Measure = () => Promise<number>;

async function inTurns(
  what: string,
  unit: string,
  rounds: number,
  [measureHere, measureThere]: readonly [Measure, Measure],
): Promise<Row[]> {
  const [here, there]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const turns = [async () => here.push(await measureHere()), async () => there.push(await measureThere())];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  const ratios = here.map((value, round) => value / (there[round] ?? Number.NaN));
  return [
    { what: `${what}: this version`, value: median(here), unit },
    { what: `${what}: the other version`, value: median(there), unit },
    { what: `${what}: median of ${rounds} ratios`, value: median(ratios), unit: "times" },
    { what: `${what}: worst ratio`, value: Math.max(...ratios), unit: "times" },
  ];
}

interface Live {
  readonly playlist: Measure;
  readonly segment: Measure;
}

/** Runs `work` against a server of that checkout after warming up its playlist and segment code. */
function onServer(root: string | undefined, clip: Clip, work: (live: Live) => Promise<Row[]>): Promise<Row[]> {
  return withDataFolder((folder) => withServer(folder, (server) => whileLive(server, clip, work), root));
}

async function whileLive(server: BenchServer, clip: Clip, work: (live: Live) => Promise<Row[]>): Promise<Row[]> {
  const { publishUrl, hlsUrl } = await server.createStream("compared");
  const sender = await RtmpSender.start(publishUrl, clip);
  try {
    await wait(LISTED_AFTER_MS);
    const playlistUrl = await videoPlaylistUrl(hlsUrl);
    const segmentUrl = async (): Promise<string> =>
      new URL(newestSegment((await fetchBytes(playlistUrl)).body.toString()), playlistUrl).href;
    for (const url of [playlistUrl, await segmentUrl()]) await load(url, WARM_CONNECTIONS, WARM_SECONDS);
    return await work({
      playlist: () => costPerRequest(server.pid, playlistUrl),
      segment: async () => costPerGigabyte(server.pid, await segmentUrl()),
    });
  } finally {
    await sender.stop();
  }
}
