import { GCProfiler } from "node:v8";
import { sql } from "kysely";
import { systemClock } from "./clock.ts";
import { openDatabase } from "./database.ts";
import { silentLog } from "./log.ts";
import type { PostgresAddress } from "./postgres/embedded-postgres.ts";

/**
 * A process of its own, since a test runner holds what passes through it. Reads rows in pages and drops them, and sends its parent the megabytes by which
 * the heap has grown from the first collection of young objects to the last.
 */
const address = JSON.parse(process.argv[2] ?? "") as PostgresAddress;
const { db, close } = await openDatabase<unknown>(address, silentLog, systemClock);
const readPages = async (pages: number): Promise<void> => {
  for (let page = 0; page < pages; page++)
    await sql`select n, md5(n::text), md5(n::text) as again from generate_series(1, ${1_000}::int) n`.execute(db);
};
await readPages(50);
const profiler = new GCProfiler();
profiler.start();
await readPages(200);
const { statistics = [] } = profiler.stop() ?? {};
const kept = statistics.filter(({ gcType }) => gcType === "Scavenge").map(({ afterGC }) => afterGC.heapStatistics);
const grown = Math.max(...kept.map(({ usedHeapSize }) => usedHeapSize)) - (kept[0]?.usedHeapSize ?? Number.NaN);
process.send?.(grown / 1e6);
await close();
process.disconnect();
