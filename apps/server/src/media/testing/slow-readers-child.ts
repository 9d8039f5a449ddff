/** A hub behind RTMP whose streams have slow readers of their packets, for the bench. Says its port, and ends with its parent. */
import { systemClock as clock } from "../../platform/clock.ts";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { silentLog as log } from "../../platform/log.ts";
import type { PublishGate } from "../../ports/index.ts";
import type { FeedReader } from "../feed/feed-reader.ts";
import { Hub } from "../hub/hub.ts";
import { publishSettings, RtmpServer } from "../ingest/index.ts";
import { openMediaMemory } from "../memory-pool.ts";
import { FakePublishGate, NO_LADDER, NO_TARGETS, ORCHESTRATOR } from "./fake-gates.ts";

const MAX_CONNECTIONS = 100;
const READ_EVERY_MS = 100;
/** Thirty a second, where a stream has 77 packets. */
const READS = 3;

const readersPerStream = Number(process.argv[2]);
const readers: FeedReader[] = [];

const begun = new FakePublishGate();
/** Lets every key publish a stream of its own. */
const gate: PublishGate = {
  refused: () => {},
  targets: async () => [],
  authorize: async ({ streamKey }) => ({ ok: true, grant: begun.grant(streamKey) }),
  begin: async () => {
    const start = await begun.begin();
    if (start) setImmediate(() => attachReaders(start.sessionId));
    return start;
  },
};

const memory = openMediaMemory();
const hub = new Hub({
  clock,
  log,
  publishGate: gate,
  eventSink: { report: () => {}, countViewers: () => {}, settle: async () => true, lost: 0 },
  memory,
  reconnectWindowMs: 1000,
  ladder: NO_LADDER,
  restream: NO_TARGETS,
  orchestrator: ORCHESTRATOR,
  recordingRoom: () => ({ spoolFreeBytes: 0, storeFreeBytes: 0 }),
  createRecorder() {
    throw new Error("nothing is recorded here");
  },
});

function attachReaders(sessionId: string): void {
  const feed = hub.session(sessionId)?.pipeline.feed;
  if (!feed) throw new Error(`stream ${sessionId} has no session`);
  for (let nth = 0; nth < readersPerStream; nth++) {
    readers.push(feed.openReader({ log, name: `reader ${nth}`, onReadable: () => {} }, { from: "keyframe" }));
  }
}

function readSlowly(reader: FeedReader): void {
  for (let nth = 0; nth < READS; nth++) {
    const item = reader.read();
    if (item?.type === "sample") item.sample.data.release();
  }
}

const server = new RtmpServer({
  publishing: publishSettings({
    clock,
    log,
    gate,
    hub: { memory, open: (...publisher) => hub.open(...publisher) },
    maxConnections: MAX_CONNECTIONS,
  }),
  host: "127.0.0.1",
  port: 0,
  proxies: new TrustedProxies([]),
  maxConnections: MAX_CONNECTIONS,
});
process.once("disconnect", () => process.exit(0));
process.on("message", () => process.send?.(readers.reduce((sum, { dropped }) => sum + dropped, 0)));
setInterval(() => {
  for (const reader of readers) readSlowly(reader);
}, READ_EVERY_MS);
process.send?.(await server.listen());
