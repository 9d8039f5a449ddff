import type { Metrics } from "../platform/metrics/metrics.ts";
import type { Tracing } from "../platform/telemetry/tracing.ts";
import type { EventSink, MediaFact, PlaybackDecision, PlaybackGate, PublishGate } from "../ports/index.ts";

/** Seconds from a segment's last source packet until its last rung was made. */
const LATENCY_BUCKETS = [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 10];

export interface Ports {
  readonly publishGate: PublishGate;
  readonly playbackGate: PlaybackGate;
  readonly eventSink: EventSink;
}

/** The same ports, counted and traced: this is where the two floors meet, and neither needs to know of it. */
export function observePorts(
  { publishGate, playbackGate, eventSink }: Ports,
  metrics: Metrics,
  tracing: Tracing,
): Ports {
  const publishes = metrics.counter("weir_publishes_total", "Attempts to publish, by outcome", ["protocol", "outcome"]);
  const accesses = metrics.counter("weir_playback_checks_total", "Access checks of viewers, by outcome", [
    "protocol",
    "outcome",
  ]);
  return {
    publishGate: {
      async authorize(request) {
        const { protocol } = request;
        const decision = await tracing.step("publish.authorize", { protocol }, () => publishGate.authorize(request));
        publishes.add([protocol, decision.ok ? "accepted" : decision.reason]);
        return decision;
      },
      begin: (grant, at) => tracing.step("publish.begin", {}, () => publishGate.begin(grant, at)),
      hasLease: () => publishGate.hasLease(),
      refused: (attempt) => publishGate.refused(attempt),
      targets: (streamId) => publishGate.targets(streamId),
    },
    playbackGate: {
      async open(request) {
        const { protocol } = request.viewer;
        const decision = await tracing.step("playback.open", { protocol }, () => playbackGate.open(request));
        accesses.add([protocol, decision.ok ? "allowed" : decision.reason]);
        return decision;
      },
      async recheck(playbackId, pass, viewer) {
        const { protocol } = viewer;
        const ask = () => playbackGate.recheck(playbackId, pass, viewer);
        const decision = await tracing.step("playback.recheck", { protocol }, ask);
        accesses.add([protocol, recheckOutcome(decision)]);
        return decision;
      },
      want: (streamId) => playbackGate.want(streamId),
    },
    eventSink: observeSink(eventSink, metrics),
  };
}

function recheckOutcome(decision: PlaybackDecision): string {
  if (decision.ok) return "allowed again";
  return decision.reason === "denied" ? "withdrawn" : "unconfirmed";
}

function observeSink(eventSink: EventSink, metrics: Metrics): EventSink {
  const segments = { seconds: 0, bytes: 0, count: 0 };
  const transcoded = { made: 0, partial: 0, missed: 0 };
  const ends = { "clean-stop": 0, "source-lost": 0 };
  const watched = new Map<string, number>();
  metrics.total("weir_segments_total", "Completed source segments", () => segments.count);
  metrics.total("weir_segment_seconds_total", "Seconds of media in them", () => segments.seconds);
  metrics.total("weir_segment_bytes_total", "Bytes of source media in them", () => segments.bytes);
  metrics.totals(
    "weir_transcoded_segments_total",
    "Segments that went through the transcoder",
    "outcome",
    () => transcoded,
  );
  metrics.totals("weir_source_ends_total", "Publishers that disconnected, by cause", "why", () => ends);
  metrics.gauge("weir_viewers", "Viewers of live and recorded content that this node counts", () =>
    [...watched.values()].reduce((sum, now) => sum + now, 0),
  );
  const latency = metrics.distribution(
    "weir_transcode_latency_seconds",
    "From a segment's last source packet until every rung has the segment",
    LATENCY_BUCKETS,
  );
  const count = (fact: MediaFact): void => {
    if (fact.type === "segment-closed") {
      segments.count++;
      segments.seconds += fact.durationSeconds;
      segments.bytes += fact.bytes;
    } else if (fact.type === "source-ended") ends[fact.why]++;
    else if (fact.type === "segment-transcoded") {
      const isWhole = fact.missing.length === 0;
      transcoded[isWhole ? "made" : fact.success ? "partial" : "missed"]++;
      if (isWhole) latency.observe(fact.latencyMs / 1000);
    }
  };
  return {
    report(fact) {
      count(fact);
      eventSink.report(fact);
    },
    countViewers(counts) {
      // The counts of one playback id by audience come together.
      for (const { playbackId } of counts) watched.delete(playbackId);
      for (const { playbackId, now } of counts)
        if (now > 0) watched.set(playbackId, (watched.get(playbackId) ?? 0) + now);
      eventSink.countViewers(counts);
    },
    settle: () => eventSink.settle(),
    get lost() {
      return eventSink.lost;
    },
  };
}
