import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Metrics } from "../platform/metrics/metrics.ts";
import { noTracing } from "../platform/telemetry/tracing.ts";
import type { EventSink, PlaybackDecision, PublishDecision } from "../ports/index.ts";
import { observePorts, type Ports } from "./observe-ports.ts";
import { measureSrt } from "./open-srt.ts";
import {
  measureConnections,
  measureDatabase,
  measureDomains,
  measureMedia,
  measureProcess,
  measureUploads,
  outboundCounter,
  requestCounter,
} from "./weir-metrics.ts";

const read = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8");

const fact = { streamId: "secret-stream", epoch: 1, at: 0, sessionId: "secret-session" };
const granted: PublishDecision = {
  ok: true,
  grant: { streamId: "secret-stream", projectId: "p", playbackId: "secret-playback", epoch: 1 },
};
const denied: PlaybackDecision = { ok: false, reason: "denied" };
const viewer = { protocol: "hls", address: "", url: "", host: "", userAgent: "", referer: "", origin: null } as const;
const request = { playbackId: "secret-playback", tokens: ["secret-token"], accessKeys: [], viewer };
const sink: EventSink = { report: () => {}, countViewers: () => {}, settle: async () => true, lost: 0 };

/** Everything that a process counts, as `weir.ts` puts it together. */
function allMetrics(): { readonly metrics: Metrics; readonly ports: Ports } {
  const metrics = new Metrics();
  const media = {
    sessions: 1,
    waitingRequests: 2,
    webrtcViewers: 3,
    publishers: 2,
    bytesReceived: 3,
    bytesSent: 4,
    sent: { playlist: 1, part: 2, segment: 3 },
    requests: 5,
    ladders: 6,
    transcodeLagMs: 700,
    targets: { pending: 1, online: 2, offline: 3 },
    sentToTargets: { bytes: 4, skippedMs: 5_000 },
    transcodeChildren: 8,
    diskFreeBytes: 9,
    unsealedChapters: 10,
    pages: { pagesInUse: 11, pagesFree: 12 },
  };
  const feed = { readers: 1, subjects: 2, tooSlow: 3 };
  measureProcess(metrics, { p99Ms: () => 20 });
  measureDatabase(metrics, { connections: () => ({ open: 3, idle: 2, waiting: 1 }) });
  measureUploads(metrics, { underWay: 1, waiting: 2 });
  measureConnections(metrics, { open: 6, refused: 7 });
  measureDomains(metrics, { figures: () => ({ factsWaiting: 4, factsDropped: 5, feed }) });
  measureMedia(metrics, { figures: () => media });
  measureSrt(metrics, { packets: { received: 9, lost: 3, retransmitted: 2, late: 1 } });
  requestCounter(metrics).add(["GET", "/api/stream", "2xx"]);
  outboundCounter(metrics).add(["timeout"]);
  const ports = observePorts(
    {
      publishGate: {
        authorize: async () => granted,
        begin: async () => null,
        hasLease: () => true,
        refused: () => {},
        targets: async () => [],
      },
      playbackGate: {
        open: async () => denied,
        recheck: async () => denied,
        want: () => {},
      },
      eventSink: sink,
    },
    metrics,
    noTracing,
  );
  return { metrics, ports };
}

async function names(metrics: Metrics): Promise<string[]> {
  return [...(await metrics.text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);
}

describe("the metrics of a process", () => {
  it("tell what went through the ports, and of whom nothing", async () => {
    const { metrics, ports } = allMetrics();
    await ports.publishGate.authorize({ protocol: "rtmp", streamKey: "secret-key", remoteAddress: "192.0.2.1" });
    await ports.playbackGate.open(request);
    await ports.playbackGate.recheck("secret-playback", { kind: "webhook", accessKey: "secret-access" }, viewer);
    ports.eventSink.report({ ...fact, type: "source-ended", why: "source-lost", reason: "secret", lastPacketAt: 0 });
    const counts = { begun: 2, newViewers: ["secret-viewer"], watchedMs: 0 };
    ports.eventSink.countViewers([
      { playbackId: "secret-playback", now: 2, ...counts },
      { playbackId: "another", now: 3, ...counts },
    ]);
    ports.eventSink.countViewers([{ playbackId: "another", now: 0, ...counts }]);
    const text = await metrics.text();
    for (const line of [
      'weir_publishes_total{protocol="rtmp",outcome="accepted"} 1',
      'weir_playback_checks_total{protocol="hls",outcome="denied"} 1',
      'weir_playback_checks_total{protocol="hls",outcome="withdrawn"} 1',
      'weir_source_ends_total{why="source-lost"} 1',
      "weir_viewers 2",
      "weir_transcode_lag_seconds 0.7",
      "weir_event_loop_delay_p99_seconds 0.02",
    ])
      expect(text).toContain(`\n${line}\n`);
    // No label is a name, an id or a key.
    expect(text).not.toMatch(/secret|192\.0\.2/);
  });

  it("are all that the Grafana dashboard draws", async () => {
    const known = new Set((await names(allMetrics().metrics)).flatMap((name) => [name, `${name}_bucket`]));
    const drawn = [...read("deploy/grafana/weir-dashboard.json").matchAll(/\b(?:weir|process)_\w+/g)].map(
      ([name]) => name,
    );
    expect(drawn.length).toBeGreaterThan(30);
    expect(drawn.filter((name) => !known.has(name))).toEqual([]);
  });

  it("each have their row in the documents, and every row is one of them", async () => {
    const rows = [
      ...read("docs/4-operate/metrics.md").matchAll(/^\| `((?:weir|process)_\w+)(?:\{[\w,]+\})?` \|/gm),
    ].map(([, name]) => name);
    expect(rows.sort()).toEqual((await names(allMetrics().metrics)).sort());
  });
});
