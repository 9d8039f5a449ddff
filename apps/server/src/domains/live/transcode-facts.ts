import { sql } from "kysely";
import type { SegmentTranscoded } from "../../ports/index.ts";
import { type NewEvent, streamEvent } from "../events/index.ts";
import type { Trx } from "../schema.ts";
import { readSessionFences } from "../sessions/index.ts";
import { streamSubject } from "../subject.ts";
import { addTranscodedTime } from "../usage/index.ts";
import type { LiveStream } from "./live-stream.ts";

/**
 * Write the transcoder's results for segments: counters of sessions, streams and usage. Returns the facts that count. The last ones of a session
 * arrive after it ended; those of a replaced publisher do not count.
 */
export async function countTranscoded(
  trx: Trx,
  facts: readonly SegmentTranscoded[],
  streams: ReadonlyMap<string, LiveStream>,
): Promise<ReadonlySet<SegmentTranscoded>> {
  if (facts.length === 0) return new Set();
  const fences = await readSessionFences(
    trx,
    facts.map((fact) => fact.sessionId),
  );
  const counted = facts.filter((fact) => {
    const fence = fences.get(fact.sessionId);
    return fence?.streamId === fact.streamId && fact.epoch >= fence.epoch;
  });
  const made = counted.filter((fact) => fact.success);
  await add(trx, "session", made, (fact) => fact.sessionId);
  await add(trx, "stream", made, (fact) => fact.streamId);
  await addTranscodedTime(
    trx,
    made.flatMap(({ streamId, at, segment }) => {
      const owner = streams.get(streamId)?.owner;
      return owner ? [{ subject: streamSubject(streamId), owner, at, seconds: segment.duration }] : [];
    }),
  );
  return new Set(counted);
}

/** The event named `transcode` in the public interface. */
export function transcodeEvent(stream: LiveStream, fact: SegmentTranscoded): NewEvent {
  const { at, segment, startTime, latencyMs, success, missing, attempts } = fact;
  return streamEvent(stream, at, "telemetry", {
    type: "transcode",
    nodeId: stream.nodeId ?? "",
    segment,
    startTime,
    latencyMs,
    success,
    ...(missing.length > 0 && { missing: [...missing] }),
    attempts: attempts.map((attempt) => ({ ...attempt })),
  });
}

async function add(
  trx: Trx,
  table: "session" | "stream",
  facts: readonly SegmentTranscoded[],
  idOf: (fact: SegmentTranscoded) => string,
): Promise<void> {
  if (facts.length === 0) return;
  await sql`
    update ${sql.table(table)} s set
      transcoded_segments = s.transcoded_segments + f.segments,
      transcoded_segments_duration = s.transcoded_segments_duration + f.seconds,
      transcoded_bytes = s.transcoded_bytes + f.bytes
    from (
      select id, count(*) as segments, sum(seconds) as seconds, sum(bytes)::bigint as bytes
      from unnest(${facts.map(idOf)}::uuid[], ${facts.map((fact) => fact.segment.duration)}::float8[],
        ${facts.map((fact) => fact.renditionBytes)}::bigint[]) as t(id, seconds, bytes) group by id
    ) f where s.id = f.id`.execute(trx);
}
