import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import type { Kysely } from "kysely";
import { EventLog, type NewEvent } from "../../apps/server/src/domains/events/index.ts";
import { systemClock } from "../../apps/server/src/platform/clock.ts";
import { openRunFolder } from "../../apps/server/src/platform/data-folder.ts";
import { openDatabase } from "../../apps/server/src/platform/database.ts";
import { silentLog } from "../../apps/server/src/platform/log.ts";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { cpuDuring } from "../../apps/server/src/roles/capacity/process-cost.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import type { BenchServer } from "./bench-server.ts";
import type { ReadersJob, ReadersReport } from "./event-readers.ts";
import { median, percentile, type Row } from "./report.ts";

type Schema = Parameters<EventLog["since"]>[0] extends Kysely<infer Tables> ? Tables : never;

const READERS = 1000;
const STREAMS = 10;
const EVENTS = 100;
const EVERY_MS = 150;
const BATCH = 500;
const FLOOD_MS = 5000;

/**
 * The event feed: delay from an event of one stream to a thousand readers while ten streams are live, and throughput of log and feed in events per
 * second. The bench appends the events directly to the database, as another process would.
 */
export async function measureEvents(server: BenchServer, clip: Clip): Promise<Row[]> {
  await using opened = new AsyncDisposableStack();
  const address = { host: openRunFolder(server.folder), port: 5432, user: "weir", database: "postgres" };
  const database = await openDatabase<Schema>(address, silentLog, systemClock);
  opened.defer(() => database.close());
  const log = new EventLog();
  const append = (events: readonly NewEvent[]) => database.db.transaction().execute((trx) => log.append(trx, events));

  const streams: Stream[] = [];
  for (let n = 0; n < STREAMS; n++) {
    const { id, publishUrl } = await server.createStream(`events ${n}`);
    streams.push(await server.client.streams.get(id));
    const sender = await RtmpSender.start(publishUrl, clip);
    opened.defer(() => sender.stop());
  }
  const watched = await server.client.streams.create({ name: "watched", profiles: [] });

  const fanOut = await Readers.start(server, [watched], READERS);
  opened.defer(() => fanOut.stop());
  let report = await fanOut.report();
  const cpu = await cpuDuring([server.pid], async () => {
    for (let n = 0; n < EVENTS; n++) {
      await append([eventOf(watched, n)]);
      await wait(EVERY_MS);
    }
  });
  report = await fanOut.until(READERS * EVENTS);
  const rows = [
    { what: `event to client, ${READERS} readers of one stream, median`, value: median(report.delaysMs), unit: "ms" },
    {
      what: `event to client, ${READERS} readers of one stream, p99`,
      value: percentile(report.delaysMs, 0.99),
      unit: "ms",
    },
    {
      what: `event to client, ${READERS} readers of one stream, longest`,
      value: percentile(report.delaysMs, 1),
      unit: "ms",
    },
    {
      what: `CPU of the server for an event to ${READERS} readers, ${STREAMS} live streams included`,
      value: (cpu / EVENTS) * 1000,
      unit: "ms",
    },
  ];
  await fanOut.stop();

  const flood = await Readers.start(server, streams, 1);
  opened.defer(() => flood.stop());
  await flood.report();
  let sent = 0;
  const begunAt = Date.now();
  while (Date.now() - begunAt < FLOOD_MS) {
    await append(Array.from({ length: BATCH }, (_, i) => eventOf(streams[i % STREAMS] ?? watched, i)));
    sent += BATCH;
  }
  const { lastAt } = await flood.until(sent);
  const seconds = (lastAt - begunAt) / 1000;
  return [
    ...rows,
    {
      what: `events through log and feed, ${STREAMS} streams with a reader each`,
      value: sent / seconds,
      unit: "a second",
    },
  ];
}

function eventOf({ id, projectId = "", userId = "" }: Stream, n: number): NewEvent {
  const orchestrator = { address: id, transcodeUri: "http://127.0.0.1/transcode/1" };
  return {
    subject: { kind: "stream", id },
    owner: { projectId, userId },
    at: Date.now(),
    kind: "telemetry",
    body: {
      type: "transcode",
      nodeId: id,
      segment: { name: `${n}.m4s`, seqNo: n, duration: 2, byteSize: 500_000 },
      startTime: Date.now(),
      latencyMs: 300,
      success: true,
      attempts: [{ orchestrator, latencyMs: 300, error: null }],
    },
  };
}

/** `count` readers per stream, in a child process. */
class Readers {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(server: BenchServer, streams: readonly Stream[], count: number): Promise<Readers> {
    const child = fork(new URL("./event-readers.ts", import.meta.url), { stdio: "inherit" });
    const readers = new Readers(child);
    const { port } = new URL(server.url);
    for (const { id } of streams) {
      const job: ReadersJob = { port: Number(port), path: `/data/stream/${id}/events`, apiKey: server.apiKey, count };
      child.send(job);
    }
    for (let open = 0; open < count * streams.length; await wait(100)) ({ open } = await readers.report());
    return readers;
  }

  async report(): Promise<ReadersReport> {
    const answer = once(this.#child, "message") as Promise<[ReadersReport]>;
    this.#child.send("report");
    return (await answer)[0];
  }

  /** Resolves after `count` events have arrived since the last report. Throws after 30 s. */
  async until(count: number): Promise<ReadersReport> {
    let events = 0;
    let delaysMs: readonly number[] = [];
    for (let tries = 0; tries < 300; tries++) {
      const report = await this.report();
      events += report.events;
      delaysMs = [...delaysMs, ...report.delaysMs];
      if (events >= count) return { ...report, events, delaysMs };
      await wait(100);
    }
    throw new Error(`only ${events} of ${count} events arrived`);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || !this.#child.connected) return;
    const exited = once(this.#child, "exit");
    this.#child.disconnect();
    await exited;
  }
}
