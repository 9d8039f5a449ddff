import type { MediaServerMetricsEvent } from "@weir/contract";
import { sql } from "kysely";
import type { LinkMeasure, MediaFact, SegmentTranscoded, SourceMetrics, TargetChanged } from "../../ports/index.ts";
import { type EventDeps, type NewEvent, streamEvent } from "../events/index.ts";
import { issueEvents, nextIssues } from "../issues/index.ts";
import { enabledTargets, type NamedTarget, nextTargetStates, targetEvents } from "../multistream/index.ts";
import {
  insertRecordedSegments,
  insertSealedSpans,
  noteFailedRecordings,
  noteSpooledRecordings,
} from "../recordings/index.ts";
import type { Trx } from "../schema.ts";
import { readOwners } from "../sessions/index.ts";
import { type Batch, noteBatch } from "../written-batches.ts";
import { type LiveStream, lockLiveStreams, saveIssues, saveTargets } from "./live-stream.ts";
import { countSegments } from "./segment-tally.ts";
import { applyToStream } from "./stream-transition.ts";
import { countTranscoded, transcodeEvent } from "./transcode-facts.ts";

export interface LiveFactsDeps extends EventDeps {
  readonly reconnectWindowMs: number;
  /** Viewers of each of these streams that has any. */
  countViewers(trx: Trx, streamIds: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/**
 * Write a batch of facts from the media floor, in order per stream, in one transaction with a fixed number of statements. Facts of a publisher
 * that lost its lease are dropped, except index rows of recordings, which arrive late after a crash. `dropped` counts, per stream, the telemetry
 * that the queue had to drop. A batch that has been written is not written again.
 */
export async function writeLiveFacts(
  deps: LiveFactsDeps,
  facts: readonly MediaFact[],
  dropped: ReadonlyMap<string, number>,
  batch: Batch,
): Promise<void> {
  const ofType = <Type extends MediaFact["type"]>(type: Type) =>
    facts.filter((fact): fact is Extract<MediaFact, { type: Type }> => fact.type === type);
  await deps.db.transaction().execute(async (trx) => {
    if (!(await noteBatch(trx, batch, deps.clock.now()))) return;
    const streams = await lockLiveStreams(trx, [...facts.map((fact) => fact.streamId), ...dropped.keys()]);
    const freshStream = (fact: MediaFact) => {
      const stream = streams.get(fact.streamId);
      return stream?.epoch === fact.epoch ? stream : undefined;
    };
    await countSegments(trx, ofType("segment-closed"), streams);
    await insertRecordedSegments(trx, ofType("rungs-recorded"));
    await insertSealedSpans(trx, ofType("span-sealed"));
    await noteFailedRecordings(trx, ofType("recording-failed"));
    await noteSpooledRecordings(trx, ofType("recording-spooled"));
    const transcoded = await countTranscoded(trx, ofType("segment-transcoded"), streams);
    const metrics = new Set(ofType("source-metrics").filter((fact) => freshStream(fact)?.sessionId === fact.sessionId));
    await writeRates(trx, [...metrics], streams);
    const measured = [...metrics].map((fact) => fact.streamId);
    const targets = await enabledTargets(trx, measured);
    const viewers = await deps.countViewers(trx, measured);

    const sends = await currentTargetChanges(trx, ofType("target-changed"), streams);
    const moved = new Set<LiveStream>();
    const issues = new Map([...streams.values()].map((stream) => [stream, stream.issues]));
    const events = [...dropped].flatMap(([streamId, count]) =>
      gapEvent(streams.get(streamId), count, deps.clock.now()),
    );
    for (const fact of facts) {
      const known = streams.get(fact.streamId);
      if (known && fact.type === "segment-transcoded" && transcoded.has(fact)) {
        events.push(transcodeEvent(known, fact));
        if (known.sessionId === fact.sessionId) events.push(...judgeStream(known, fact));
      }
      if (known && fact.type === "target-changed" && sends.has(fact)) {
        known.targets = nextTargetStates(known.targets, fact);
        moved.add(known);
        events.push(...targetEvents(known, fact));
      }
      const stream = freshStream(fact);
      if (!stream) continue;
      if (fact.type === "source-metrics" && metrics.has(fact)) {
        events.push(
          metricsEvent(stream, fact, targets.get(stream.id) ?? [], viewers.get(stream.id) ?? 0),
          ...judgeStream(stream, fact),
        );
      } else events.push(...(await moveStream(trx, stream, fact, deps.reconnectWindowMs)));
    }
    await saveIssues(
      trx,
      [...issues].filter(([stream, before]) => stream.issues !== before).map(([stream]) => stream),
    );
    await saveTargets(
      trx,
      [...moved].filter(({ sessionId }) => sessionId !== null),
    );
    await deps.events.append(trx, events);
  });
}

/** Targets belong to the session, not to its publisher, and are sent to by the node of its owner alone. */
async function currentTargetChanges(
  trx: Trx,
  facts: readonly TargetChanged[],
  streams: ReadonlyMap<string, LiveStream>,
): Promise<ReadonlySet<TargetChanged>> {
  const ofSession = facts.filter((fact) => streams.get(fact.streamId)?.sessionId === fact.sessionId);
  const isOwners = (fact: TargetChanged) => streams.get(fact.streamId)?.epoch === fact.epoch;
  const owners = await readOwners(
    trx,
    ofSession.filter((fact) => !isOwners(fact)),
  );
  return new Set(ofSession.filter((fact) => isOwners(fact) || owners.get(fact) === streams.get(fact.streamId)?.nodeId));
}

/** The issues that the fact opens or closes. */
function judgeStream(stream: LiveStream, fact: SourceMetrics | SegmentTranscoded): NewEvent[] {
  if (stream.state !== "live") return [];
  const before = stream.issues;
  stream.issues = nextIssues(before, fact);
  return issueEvents(stream, before, stream.issues, fact.at);
}

/** The publisher's state change that the fact reports, if any. A source that is already present is not a change. */
async function moveStream(
  trx: Trx,
  stream: LiveStream,
  fact: MediaFact,
  reconnectWindowMs: number,
): Promise<NewEvent[]> {
  const { at } = fact;
  if (fact.type === "source-ended") {
    return applyToStream(trx, stream, fact.why, { at, reconnectWindowMs, lastPacketAt: fact.lastPacketAt });
  }
  if (fact.type === "source-back" && stream.state === "reconnecting") {
    return applyToStream(trx, stream, "source-back", { at, reconnectWindowMs, lastPacketAt: at });
  }
  return [];
}

/** The latest rates of each stream and its session. */
async function writeRates(
  trx: Trx,
  metrics: readonly SourceMetrics[],
  streams: ReadonlyMap<string, LiveStream>,
): Promise<void> {
  if (metrics.length === 0) return;
  const latest = [...new Map(metrics.map((fact) => [fact.streamId, fact])).values()];
  for (const { streamId, at } of latest) {
    const stream = streams.get(streamId);
    if (stream) stream.lastSeen = Math.max(stream.lastSeen, at);
  }
  const rates = sql`unnest(${latest.map((fact) => fact.streamId)}::uuid[], ${latest.map((fact) => fact.sessionId)}::uuid[],
    ${latest.map((fact) => fact.ingestRate)}::float8[], ${latest.map((fact) => fact.outgoingRate)}::float8[],
    ${latest.map((fact) => fact.at)}::bigint[], ${latest.map(({ transcoding }) => transcoding && JSON.stringify(transcoding))}::jsonb[])
    as f(stream_id, session_id, ingest_rate, outgoing_rate, at, transcoding)`;
  const change = sql`ingest_rate = f.ingest_rate, outgoing_rate = f.outgoing_rate, last_seen = greatest(s.last_seen, f.at)`;
  await sql`update stream s set ${change}, transcoding = f.transcoding from ${rates} where s.id = f.stream_id`.execute(
    trx,
  );
  await sql`update session s set ${change} from ${rates} where s.id = f.session_id`.execute(trx);
}

function metricsEvent(
  stream: LiveStream,
  { at, mediaTimeMs, ingestRate, outgoingRate, source, webrtc, srt, targets: reports }: SourceMetrics,
  targets: readonly NamedTarget[],
  viewerCount: number,
): NewEvent {
  const { frameRate, keyframeIntervalMs } = source;
  const region = stream.region ? { region: stream.region } : {};
  return streamEvent(stream, at, "telemetry", {
    type: "media_server_metrics",
    nodeId: stream.nodeId ?? "",
    ...region,
    stats: {
      mediaTimeMs,
      ingestRate,
      outgoingRate,
      ...(frameRate !== null && { frameRate }),
      ...(keyframeIntervalMs !== null && { keyframeIntervalMs }),
      viewerCount,
      ...webrtcStats(webrtc),
      ...(srt && { srt: told(srt) }),
    },
    multistream: targets.map(({ id, name, profile }) => {
      const report = reports.find(({ target }) => target.id === id && target.profile === profile);
      const reason = report?.reason ?? null;
      return { target: { id, name, profile }, metrics: report?.metrics ?? null, ...(reason !== null && { reason }) };
    }),
  });
}

/** Nothing where neither publisher nor viewers use WebRTC. */
function webrtcStats({
  publisher,
  viewers,
}: SourceMetrics["webrtc"]): Pick<MediaServerMetricsEvent["stats"], "webrtc"> {
  if (!publisher && !viewers) return {};
  return { webrtc: { ...(publisher && { publisher: told(publisher) }), ...(viewers && { viewers: told(viewers) }) } };
}

/** Without what is not known. */
function told<Link extends LinkMeasure>({ roundTripMs, ...known }: Link) {
  return { ...known, ...(roundTripMs !== null && { roundTripMs }) };
}

function gapEvent(stream: LiveStream | undefined, dropped: number, at: number): NewEvent[] {
  return stream ? [streamEvent(stream, at, "telemetry", { type: "event_gap", dropped })] : [];
}
