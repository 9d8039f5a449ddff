import { setTimeout as wait } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import type { Kysely } from "kysely";
import { EventLog } from "../../apps/server/src/domains/events/index.ts";
import { queueDeliveries } from "../../apps/server/src/domains/webhooks/index.ts";
import { systemClock } from "../../apps/server/src/platform/clock.ts";
import { openRunFolder } from "../../apps/server/src/platform/data-folder.ts";
import { openDatabase } from "../../apps/server/src/platform/database.ts";
import { silentLog } from "../../apps/server/src/platform/log.ts";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";
import { RtmpSender } from "../../apps/server/src/roles/capacity/rtmp-sender.ts";
import { startWebhookReceiver } from "../../apps/server/test/support/webhook-receiver.ts";
import type { BenchServer } from "./bench-server.ts";
import { percentile, type Row } from "./report.ts";

type Schema = Parameters<EventLog["since"]>[0] extends Kysely<infer Tables> ? Tables : never;

const STREAMS = 10;
const EVENTS = 400;
const EVERY_MS = 25;
const FLOOD = 2_000;

/**
 * Webhooks: delay from the commit of an event to the receiver's first call while ten streams are live, and throughput in calls per second for many
 * events at once. The bench appends the events directly to the database, as another process would.
 */
export async function measureWebhooks(server: BenchServer, clip: Clip): Promise<Row[]> {
  await using opened = new AsyncDisposableStack();
  const address = { host: openRunFolder(server.folder), port: 5432, user: "weir", database: "postgres" };
  const database = await openDatabase<Schema>(address, silentLog, systemClock);
  opened.defer(() => database.close());
  const log = new EventLog((trx, placed) => queueDeliveries(trx, placed, Date.now()));
  const receiver = opened.use(await startWebhookReceiver());
  await server.client.webhooks.create({ name: "bench", url: receiver.url, events: ["multistream.connected"] });

  const streams: Stream[] = [];
  for (let n = 0; n < STREAMS; n++) {
    const { id, publishUrl } = await server.createStream(`webhooks ${n}`);
    streams.push(await server.client.streams.get(id));
    const sender = await RtmpSender.start(publishUrl, clip);
    opened.defer(() => sender.stop());
  }
  const committed = new Map<string, number>();
  const append = async (first: number, count: number) => {
    const events = Array.from({ length: count }, (_, n) => eventOf(streams[(first + n) % STREAMS], first + n));
    await database.db.transaction().execute((trx) => log.append(trx, events));
    for (let n = 0; n < count; n++) committed.set(String(first + n), performance.now());
  };
  const received = async (count: number) => {
    while (receiver.calls.length < count) await wait(20);
  };

  await append(0, 1);
  await received(1);
  for (let n = 1; n <= EVENTS; n++) {
    await append(n, 1);
    await wait(EVERY_MS);
  }
  await received(EVENTS + 1);
  const delays = receiver.calls
    .slice(1)
    .map(({ at, body }) => Math.max(0, at - (committed.get(String(body.payload?.n)) ?? at)));

  const before = receiver.calls.length;
  const begunAt = performance.now();
  await append(EVENTS + 1, FLOOD);
  await received(before + FLOOD);
  const seconds = (performance.now() - begunAt) / 1000;
  return [
    {
      what: `event to first webhook call, ${STREAMS} live streams, median`,
      value: percentile(delays, 0.5),
      unit: "ms",
    },
    { what: `event to first webhook call, ${STREAMS} live streams, p99`, value: percentile(delays, 0.99), unit: "ms" },
    {
      what: `webhook calls of one receiver, ${STREAMS} streams with ${FLOOD} events at once`,
      value: FLOOD / seconds,
      unit: "a second",
    },
  ];
}

function eventOf(stream: Stream | undefined, n: number) {
  const { id = "", projectId = "", userId = "" } = stream ?? {};
  return {
    subject: { kind: "stream", id },
    owner: { projectId, userId },
    at: Date.now(),
    kind: "lifecycle",
    body: { type: "webhook_event", event: "multistream.connected", userId, payload: { n } },
  } as const;
}
