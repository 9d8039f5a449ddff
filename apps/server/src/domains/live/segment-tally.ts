import { sql } from "kysely";
import type { SegmentClosed } from "../../ports/index.ts";
import { insertRecordedSegments } from "../recordings/index.ts";
import type { Trx } from "../schema.ts";
import { addToSessions, readSessionFences, type SessionTally } from "../sessions/index.ts";
import type { LiveStream } from "./live-stream.ts";

const TARGET_DURATION_BEFORE = 4;
const NOTHING = { segments: 0, seconds: 0, bytes: 0, lastSeen: 0 };
type StreamTally = { -readonly [Key in keyof typeof NOTHING]: number };

/** Write the effects of closed segments: index rows, counters and positions of sessions, counters and `lastSeen` of streams. */
export async function countSegments(
  trx: Trx,
  facts: readonly SegmentClosed[],
  streams: ReadonlyMap<string, LiveStream>,
): Promise<void> {
  if (facts.length === 0) return;
  const ids = facts.map((fact) => fact.sessionId);
  const fences = await readSessionFences(trx, ids);
  const known = facts.filter((fact) => fences.get(fact.sessionId)?.streamId === fact.streamId);
  const inserted = await insertRecordedSegments(trx, known);
  // A recorded segment counts once, however often it is reported. A segment without an index row counts while its publisher holds the session.
  const counted = known.filter((fact) =>
    fact.recorded.length > 0
      ? fact.recorded.some((segment) => inserted.has(`${fact.sessionId}/${segment.msn}`))
      : fact.epoch >= (fences.get(fact.sessionId)?.epoch ?? 0),
  );
  const sessions = new Map<string, SessionTally>();
  const tallies = new Map<string, StreamTally>();
  for (const fact of counted) {
    const { sessionId, streamId, position } = fact;
    const session = sessions.get(sessionId) ?? {
      sessionId,
      ...NOTHING,
      nextMsn: 0,
      discontinuitySequence: 0,
      endTicks: 0,
      targetDuration: 0,
      neededTargetDuration: 0,
      sound: null,
      positionAt: 0,
    };
    const tally = tallies.get(streamId) ?? { ...NOTHING };
    const stream = streams.get(streamId);
    // A segment reported late, as after a crash, does not update `lastSeen`.
    const lastSeen = stream?.epoch === fact.epoch ? fact.at : 0;
    if (stream) stream.lastSeen = Math.max(stream.lastSeen, lastSeen);
    for (const sum of [session, tally]) {
      sum.segments += 1;
      sum.seconds += fact.durationSeconds;
      sum.bytes += fact.bytes;
      sum.lastSeen = Math.max(sum.lastSeen, lastSeen);
    }
    session.nextMsn = Math.max(session.nextMsn, position.nextMsn);
    session.discontinuitySequence = Math.max(session.discontinuitySequence, position.discontinuitySequence);
    session.endTicks = Math.max(session.endTicks, position.endTicks);
    session.positionAt = Math.max(session.positionAt, fact.at);
    // Journals of earlier versions lack it: their sessions had 4.
    session.targetDuration = position.targetDuration ?? TARGET_DURATION_BEFORE;
    session.neededTargetDuration = position.neededTargetDuration ?? TARGET_DURATION_BEFORE;
    session.sound = position.sound ?? session.sound;
    sessions.set(sessionId, session);
    tallies.set(streamId, tally);
  }
  await addToSessions(trx, [...sessions.values()]);
  await addToStreams(trx, tallies);
}

async function addToStreams(trx: Trx, tallies: ReadonlyMap<string, StreamTally>): Promise<void> {
  if (tallies.size === 0) return;
  const column = (value: (tally: StreamTally) => number) => [...tallies.values()].map(value);
  await sql`
    update stream s set
      source_segments = s.source_segments + f.segments,
      source_segments_duration = s.source_segments_duration + f.seconds,
      source_bytes = s.source_bytes + f.bytes,
      last_seen = greatest(s.last_seen, f.last_seen)
    from unnest(${[...tallies.keys()]}::uuid[], ${column((tally) => tally.segments)}::bigint[],
      ${column((tally) => tally.seconds)}::float8[], ${column((tally) => tally.bytes)}::bigint[],
      ${column((tally) => tally.lastSeen)}::bigint[]) as f(id, segments, seconds, bytes, last_seen)
    where s.id = f.id`.execute(trx);
}
