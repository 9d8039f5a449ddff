/** A hub behind RTMP whose streams have slow multistream targets, for the bench. Says its port, and ends with its parent. */
import { systemClock as clock } from "../../platform/clock.ts";
import { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import { Listener } from "../../platform/listener.ts";
import { silentLog as log } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import type { PublishGate } from "../../ports/index.ts";
import { Hub } from "../hub/hub.ts";
import { publishSettings, RtmpServer } from "../ingest/index.ts";
import { openMediaMemory } from "../memory-pool.ts";
import { RtmpFormat } from "../restream/rtmp-format.ts";
import type { TargetConnection, TargetConnectionHandler } from "../restream/target-connection.ts";
import { FakePublishGate, NO_LADDER, NO_TARGETS, ORCHESTRATOR } from "./fake-gates.ts";

const MAX_CONNECTIONS = 100;
const MAX_QUEUED = 1024 * 1024;
const READ_EVERY_MS = 100;
/** 0.8 Mbit/s, of a stream with 2.1. */
const READ_BYTES = 10_000;

const targetsPerStream = Number(process.argv[2]);
const connections: SlowConnection[] = [];

/** Takes what it is sent little by little. The work of a socket, which a target has whether it is slow or not, is left out. */
class SlowConnection implements TargetConnection {
  queuedBytes = 0;

  constructor({ ready }: TargetConnectionHandler) {
    connections.push(this);
    setImmediate(() => ready({ key: "rtmp 1", create: () => new RtmpFormat(1) }));
  }

  write(bytes: Uint8Array): void {
    this.queuedBytes += bytes.byteLength;
  }

  read(): void {
    this.queuedBytes = Math.max(0, this.queuedBytes - READ_BYTES);
  }

  close(): void {}

  destroy(): void {}
}

const gates = new FakePublishGate();
gates.restreamTargets = Array.from({ length: targetsPerStream }, (_, nth) => ({
  id: `target-${nth}`,
  name: `Target ${nth}`,
  profile: "source",
  videoOnly: false,
  slate: false,
  url: `rtmp://127.0.0.1/live/target-${nth}`,
  givenUp: null,
}));
/** Lets every key publish a stream of its own. */
const gate: PublishGate = {
  refused: () => {},
  hasLease: () => true,
  targets: () => gates.targets(),
  authorize: async ({ streamKey }) => ({ ok: true, grant: gates.grant(streamKey) }),
  begin: (grant) => gates.begin(grant),
};

const memory = openMediaMemory();
const restream = {
  ...NO_TARGETS,
  maxQueued: () => MAX_QUEUED,
  connectFor: () => (_url: string, handler: TargetConnectionHandler) => new SlowConnection(handler),
};
const hub = new Hub({
  takeover: null,
  makeSlate: async () => null,
  clock,
  log,
  publishGate: gate,
  slices: new Slices(clock),
  eventSink: { report: () => {}, countViewers: () => {}, settle: async () => true, lost: 0 },
  memory,
  reconnectWindowMs: 1000,
  ladder: NO_LADDER,
  restream,
  orchestrator: ORCHESTRATOR,
  recordingRoom: () => ({ spoolFreeBytes: 0, storeFreeBytes: 0 }),
  createDvr: () => null,
  createRecorder() {
    throw new Error("nothing is recorded here");
  },
});

const listener = new Listener("RTMP", "127.0.0.1", 0);
const server = new RtmpServer({
  publishing: publishSettings({
    clock,
    log,
    gate,
    hub: { memory, open: (...publisher) => hub.open(...publisher) },
    maxConnections: MAX_CONNECTIONS,
  }),
  listener,
  secure: null,
  proxies: new TrustedProxies([]),
  maxConnections: MAX_CONNECTIONS,
});
process.once("disconnect", () => process.exit(0));
process.on("message", () => process.send?.(restream.sent.skippedMs));
setInterval(() => {
  for (const connection of connections) connection.read();
}, READ_EVERY_MS);
await server.listen();
process.send?.(listener.port);
