import { expect, test } from "vitest";
import { Encoder } from "./encoder.ts";
import { type Holdings, holdingsOf } from "./holdings.ts";
import { found, keepFound, say } from "./run-found.ts";
import { MEDIA_PROCESSES, ROOT, SOAK } from "./run-options.ts";
import { SoakLoad } from "./soak-load.ts";
import { World } from "./world.ts";

const COUNTS = { sessions: 5_000, viewers: 200_000, events: 100_000 };
const TENTHS = 10;
/** After these tenths, all that has ended gets older than it is kept. */
const AGED_AFTER = new Set([3, 6, 9]);
const AGED_WITHIN_MS = 120_000;
const LONGEST_MS = 7_200_000;
const MEBIBYTE = 1024 * 1024;
/** What may be more at the end than after the first tenth: of memory, of handles, and of the tables that are not named below. */
const MORE = {
  residentBytes: 60 * MEBIBYTE,
  heapBytes: 25 * MEBIBYTE,
  files: 20,
  sockets: 20,
  timers: 10,
  children: 1,
};
const MORE_TABLE_BYTES = 4 * MEBIBYTE;
/** Of an index whose table grows: times the bytes that it had for each byte of its table after the first tenth. */
const MORE_TIMES_INDEX = 2;
/** Of objects, over one tenth's recordings: those of all others have been deleted. */
const MORE_TIMES_OBJECTS = 2;
const MORE_OBJECT_BYTES = 4 * MEBIBYTE;
/** A list and a write may take twice as long as in the first tenth, and this. */
const MORE_MS = 40;
/** Tables that keep a row of all that ever happened, or for days: they grow with what is done. */
const GROW_BY_DESIGN =
  /^(event_(lifecycle|telemetry)\w*|session|session_epoch|view_\w+|viewer_count|usage_\w+|webhook_\w+|task|job\w*|j\w{20,}|orphan|recording_\w+)$/;

interface Index {
  readonly name: string;
  readonly table: string;
  readonly bytes: number;
}

interface Sample {
  readonly tenth: number;
  readonly holdings: Holdings;
  readonly latencies: ReturnType<SoakLoad["takeLatencies"]>;
  /** Without their indexes, by name. */
  readonly tableBytes: Readonly<Record<string, number>>;
  readonly indexes: readonly Index[];
  readonly objectBytes: number;
}

test.runIf(SOAK > 0)(`soak: ${SOAK} of the counts`, { timeout: LONGEST_MS }, async () => {
  const env = { WEIR_RECORDING_DAYS: "1", WEIR_ASSET_DAYS: "1", WEIR_TRUSTED_PROXIES: "127.0.0.1" };
  await using world = await World.open({ root: ROOT, mediaProcesses: MEDIA_PROCESSES, minutes: 0, env });
  await keepFound(world, () => soak(world));
});

async function soak(world: World): Promise<void> {
  await using encoder = await Encoder.start(world, {});
  const load = await SoakLoad.open(world);
  using _load = { [Symbol.dispose]: () => load.close() };
  const asset = await world.weir.client.assets.import({ name: "soak", url: world.source.url });
  const hlsUrl = world.weir.hlsUrl(encoder.stream.playbackId);
  await expect.poll(async () => (await fetch(hlsUrl)).text(), { timeout: 30_000 }).toContain("m3u8");
  const share = (count: number) => Math.ceil((count * SOAK) / TENTHS);
  const samples: Sample[] = [];
  for (let tenth = 1; tenth <= TENTHS; tenth++) {
    await Promise.all([load.broadcast(share(COUNTS.sessions)), load.watch(hlsUrl, share(COUNTS.viewers))]);
    const due = share(COUNTS.events) * tenth - (await events(world));
    await load.write(asset.asset.id, Math.max(due, share(COUNTS.events) / 10));
    if (AGED_AFTER.has(tenth)) await age(world, load);
    const sample = await sampleOf(world, load, tenth);
    samples.push(sample);
    say(`${tenth}/${TENTHS}: ${told(sample)}`);
  }
  const [first] = samples;
  const last = samples.at(-1);
  if (!first || !last) throw new Error("nothing was measured");
  found.figures = { ...COUNTS, sessions: load.sessions, viewers: load.viewers, events: await events(world) };
  say(JSON.stringify(found.figures));
  for (const [name, bytes] of Object.entries(last.tableBytes)) {
    const grown = bytes - (first.tableBytes[name] ?? 0);
    if (grown > MEBIBYTE) say(`${name} grew by ${Math.round(grown / load.sessions)} bytes a session`);
  }
  expect(load.problems).toEqual([]);
  expect(notFlat(first, last)).toEqual([]);
}

async function events(world: World): Promise<number> {
  const [row] = await world.stored.rows<{ events: string }>("select sum(seq) as events from event_sequence");
  return Number(row?.events ?? 0);
}

/** All that has ended is older than it is kept: the server deletes it, an hour later its bytes, and no bytes stay. */
async function age(world: World, load: SoakLoad): Promise<void> {
  const { stored } = world;
  const within = { timeout: AGED_WITHIN_MS, interval: 500 };
  const count = async (query: string) => (await stored.rows(query)).length;
  const waiting = "select 1 from session where recording = 'waiting' and ended_at is not null";
  await expect.poll(() => count(waiting), within).toBe(0);
  const days = 8 * 86_400_000;
  await stored.rows(`update session set ended_at = ended_at - ${days} where recording in ('ready', 'failed')`);
  for (const table of ["webhook_log", "webhook_delivery"])
    await stored.rows(`update ${table} set created_at = created_at - ${days}`);
  const [old] = await stored.rows<{ id: string }>("select id from session where recording = 'ready' limit 1");
  await stored.runJob("retention", AGED_WITHIN_MS);
  await expect.poll(() => count("select 1 from session where recording in ('ready', 'failed')"), within).toBe(0);
  await stored.rows("update session set purge_at = 1 where purge_at is not null");
  const left = async () => [...(await stored.objects()).keys()].filter((key) => key.includes("/rec/")).length;
  await expect.poll(left, within).toBe(0);
  say(`${load.sessions} sessions aged, ${old ? "recordings" : "nothing"} deleted, no byte of them left`);
}

async function sampleOf(world: World, load: SoakLoad, tenth: number): Promise<Sample> {
  const tables = await world.stored.rows<{ name: string; bytes: string }>(
    `select c.relname as name, pg_table_size(c.oid) as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')`,
  );
  const indexes = await world.stored.rows<{ name: string; table: string; bytes: string }>(
    "select indexrelname as name, relname as table, pg_relation_size(indexrelid) as bytes from pg_stat_user_indexes",
  );
  const objects = await world.stored.objects();
  return {
    tenth,
    holdings: await holdingsOf(world),
    latencies: load.takeLatencies(),
    tableBytes: Object.fromEntries(tables.map(({ name, bytes }) => [name, Number(bytes)])),
    indexes: indexes.map((index) => ({ ...index, bytes: Number(index.bytes) })),
    objectBytes: [...objects.values()].reduce((sum, bytes) => sum + bytes, 0),
  };
}

const told = ({ holdings, latencies, objectBytes }: Sample): string =>
  `memory ${Math.round(holdings.residentBytes / MEBIBYTE)} MiB, heap ${Math.round(holdings.heapBytes / MEBIBYTE)} MiB, ${holdings.sockets} sockets, ` +
  `objects ${Math.round(objectBytes / MEBIBYTE)} MiB, ${JSON.stringify(latencies)}`;

/** What grew after the first tenth, and is not to. */
function notFlat(first: Sample, last: Sample): string[] {
  const kept = (Object.keys(MORE) as (keyof typeof MORE)[])
    .filter((what) => last.holdings[what] > first.holdings[what] + MORE[what])
    .map((what) => `${what}: ${first.holdings[what]} after a tenth, ${last.holdings[what]} at the end`);
  const tables = Object.entries(last.tableBytes)
    .filter(([name, bytes]) => !GROW_BY_DESIGN.test(name) && bytes > (first.tableBytes[name] ?? 0) + MORE_TABLE_BYTES)
    .map(([name, bytes]) => `table ${name}: ${first.tableBytes[name] ?? 0} bytes after a tenth, ${bytes} at the end`);
  const indexes = last.indexes.flatMap(({ name, table, bytes }) => {
    const before = first.indexes.find((index) => index.name === name)?.bytes ?? 0;
    const growth = (last.tableBytes[table] ?? 0) / (first.tableBytes[table] || 1);
    const most = before * (GROW_BY_DESIGN.test(table) ? MORE_TIMES_INDEX * Math.max(growth, 1) : 1) + MORE_TABLE_BYTES;
    return bytes > most ? [`index ${name}: ${before} bytes after a tenth, ${bytes} at the end`] : [];
  });
  const objects =
    last.objectBytes > MORE_TIMES_OBJECTS * first.objectBytes + MORE_OBJECT_BYTES
      ? [`objects: ${first.objectBytes} bytes after a tenth, ${last.objectBytes} at the end`]
      : [];
  const slow = (Object.keys(last.latencies) as (keyof Sample["latencies"])[])
    .filter((what) => last.latencies[what] > 2 * first.latencies[what] + MORE_MS)
    .map((what) => `${what}: ${first.latencies[what]} ms in the first tenth, ${last.latencies[what]} ms in the last`);
  return [...kept, ...tables, ...indexes, ...objects, ...slow];
}
