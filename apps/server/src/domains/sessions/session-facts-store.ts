import { sql } from "kysely";
import type { SessionSound } from "../../ports/index.ts";
import type { Trx } from "../schema.ts";

/** The totals that a batch of closed segments adds to one session. */
export interface SessionTally {
  readonly sessionId: string;
  segments: number;
  seconds: number;
  bytes: number;
  nextMsn: number;
  discontinuitySequence: number;
  endTicks: number;
  targetDuration: number;
  neededTargetDuration: number;
  /** Null until the session has sound. */
  sound: SessionSound | null;
  /** When the position was true. */
  positionAt: number;
  /** 0 if it does not move. */
  lastSeen: number;
}

export interface SessionFence {
  readonly streamId: string;
  readonly epoch: number;
}

/** The latest epoch of each of these sessions; unknown ones are absent. */
export async function readSessionFences(trx: Trx, ids: Iterable<string>): Promise<Map<string, SessionFence>> {
  const rows = await trx
    .selectFrom("session")
    .select(["id", "stream_id", "epoch"])
    .where((where) => where("id", "=", where.fn.any(sql<string[]>`${[...new Set(ids)]}::uuid[]`)))
    .execute();
  return new Map(rows.map((row) => [row.id, { streamId: row.stream_id, epoch: Number(row.epoch) }]));
}

/** The node that owned the session of each fact in its epoch; unknown epochs are absent. */
export async function readOwners<Fact extends { readonly sessionId: string; readonly epoch: number }>(
  trx: Trx,
  facts: readonly Fact[],
): Promise<ReadonlyMap<Fact, string>> {
  if (facts.length === 0) return new Map();
  const { rows } = await sql<{ session_id: string; epoch: string; node_id: string }>`
    select session_id, epoch, node_id from session_epoch
    where (session_id, epoch) in (select * from unnest(${facts.map(({ sessionId }) => sessionId)}::uuid[], ${facts.map(({ epoch }) => epoch)}::bigint[]))`.execute(
    trx,
  );
  const nodeOf = new Map(rows.map((row) => [`${row.session_id} ${row.epoch}`, row.node_id]));
  return new Map(
    facts.flatMap((fact) => {
      const node = nodeOf.get(`${fact.sessionId} ${fact.epoch}`);
      return node === undefined ? [] : [[fact, node] as const];
    }),
  );
}

/** Add to the sessions' counters and advance their positions. */
export async function addToSessions(trx: Trx, tallies: readonly SessionTally[]): Promise<void> {
  if (tallies.length === 0) return;
  const column = (value: (tally: SessionTally) => number) => tallies.map(value);
  await sql`
    update session s set
      source_segments = s.source_segments + f.segments,
      source_segments_duration = s.source_segments_duration + f.seconds,
      source_bytes = s.source_bytes + f.bytes,
      next_msn = greatest(s.next_msn, f.next_msn),
      discontinuity_sequence = greatest(s.discontinuity_sequence, f.discontinuity_sequence),
      end_ticks = greatest(s.end_ticks, f.end_ticks),
      position_at = greatest(s.position_at, f.position_at),
      target_duration = f.target_duration,
      needed_target_duration = f.needed_target_duration,
      sound = coalesce(f.sound, s.sound),
      last_seen = greatest(s.last_seen, f.last_seen)
    from unnest(${tallies.map((tally) => tally.sessionId)}::uuid[], ${column((tally) => tally.segments)}::bigint[],
      ${column((tally) => tally.seconds)}::float8[], ${column((tally) => tally.bytes)}::bigint[],
      ${column((tally) => tally.nextMsn)}::bigint[], ${column((tally) => tally.discontinuitySequence)}::bigint[],
      ${column((tally) => Math.round(tally.endTicks))}::bigint[], ${column((tally) => tally.targetDuration)}::smallint[],
      ${column((tally) => tally.neededTargetDuration)}::smallint[], ${column((tally) => tally.lastSeen)}::bigint[],
      ${column((tally) => tally.positionAt)}::bigint[], ${tallies.map(({ sound }) => sound && JSON.stringify(sound))}::jsonb[])
      as f(id, segments, seconds, bytes, next_msn, discontinuity_sequence, end_ticks, target_duration, needed_target_duration, last_seen,
        position_at, sound)
    where s.id = f.id`.execute(trx);
}
