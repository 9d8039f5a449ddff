import type { Profile, RecordingSpec } from "@weir/contract";
import { sql } from "kysely";
import type { SessionSound, TimelinePosition } from "../../ports/index.ts";
import { newId, newPlaybackId } from "../ids.ts";
import type { Owner, Trx } from "../schema.ts";
import { nextSessionStatus } from "./session-status.ts";

/** A successor skips the names that its predecessor may have used after its last saved segment: 16 segments, 32 s, and what passed since then. */
const RESUME_SEGMENTS = 16;
const RESUME_TICKS = 32 * 90_000;
const SHORTEST_SEGMENT_MS = 1_500;
/**
 * Another node's owner cannot be asked, and goes on with its own numbers until it hears of its successor: a day of segments, for one that cannot
 * reach the database.
 */
const APART_SEGMENTS = 43_200;
/** How long a session's last facts may arrive after its end, and how long if its node died and must read its spool again. */
const SETTLE_MS = 2_000;
const SETTLE_AFTER_LOSS_MS = 20_000;

/** The settings that a session copies from its stream when it starts. */
export interface SessionSeed {
  readonly streamId: string;
  readonly owner: Owner;
  readonly name: string;
  readonly profiles: readonly Profile[];
  readonly record: boolean;
  readonly recordingSpec: RecordingSpec | null;
  readonly dvrSeconds: number | null;
  readonly epoch: number;
  readonly at: number;
}

export interface OpenSession {
  readonly id: string;
  readonly record: boolean;
  /** How far viewers can go back; null if they cannot. */
  readonly dvrSeconds: number | null;
  readonly profiles: readonly Profile[];
}

export async function beginSession(trx: Trx, seed: SessionSeed): Promise<OpenSession> {
  const id = newId();
  await trx
    .insertInto("session")
    .values({
      id,
      project_id: seed.owner.projectId,
      user_id: seed.owner.userId,
      stream_id: seed.streamId,
      name: seed.name,
      profiles: JSON.stringify(seed.profiles),
      record: seed.record,
      recording_spec: seed.recordingSpec && JSON.stringify(seed.recordingSpec),
      dvr_seconds: seed.dvrSeconds,
      created_at: seed.at,
      last_seen: seed.at,
      epoch: seed.epoch,
      recording: seed.record ? "waiting" : "none",
      recording_playback_id: seed.record ? newPlaybackId(id) : null,
    })
    .execute();
  return { id, record: seed.record, dvrSeconds: seed.dvrSeconds, profiles: seed.profiles };
}

/** What a stream's session takes over from the one before it. */
export interface LastSession {
  /** What its keyframes would have required, in seconds. */
  readonly targetDuration: number;
  /** Null if it had none. */
  readonly sound: SessionSound | null;
}

/** The stream's latest session with a closed segment, other than `current`. */
export async function lastSessionOf(trx: Trx, streamId: string, current: string | null): Promise<LastSession | null> {
  const row = await trx
    .selectFrom("session")
    .select(["needed_target_duration", "sound"])
    .where("stream_id", "=", streamId)
    .where("needed_target_duration", "is not", null)
    .$if(current !== null, (sessions) => sessions.where("id", "!=", current ?? ""))
    .orderBy("created_at", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!row || row.needed_target_duration === null) return null;
  return { targetDuration: row.needed_target_duration, sound: row.sound };
}

export interface Resume {
  readonly epoch: number;
  readonly at: number;
  /** The session's last owner was on this node. */
  readonly isSameNode: boolean;
}

/** Continue an open session under a new epoch. Advances the position too, so that a third publisher starts behind the second. */
export async function resumeSession(
  trx: Trx,
  id: string,
  { epoch, at, isSameNode }: Resume,
): Promise<OpenSession & { position: TimelinePosition; previousEpoch: number | null }> {
  const sinceMs = sql`greatest(0, ${at}::bigint - coalesce(position_at, last_seen))`;
  const skipped = RESUME_SEGMENTS + (isSameNode ? 0 : APART_SEGMENTS);
  const row = await trx
    .updateTable("session")
    .set({
      epoch,
      settle_at: null,
      next_msn: sql<number>`next_msn + ${skipped}::int + ${sinceMs} / ${SHORTEST_SEGMENT_MS}::int`,
      end_ticks: sql<number>`end_ticks + ${RESUME_TICKS}::int + ${sinceMs} * 90`,
      position_at: sql<number>`greatest(position_at, ${at}::bigint)`,
    })
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .returning([
      "record",
      "dvr_seconds",
      "profiles",
      "next_msn",
      "discontinuity_sequence",
      "end_ticks",
      "target_duration",
      "sound",
    ])
    .returning(
      sql<string | null>`(select max(o.epoch) from session_epoch o where o.session_id = session.id)`.as("owner"),
    )
    .executeTakeFirstOrThrow();
  return {
    id,
    record: row.record,
    dvrSeconds: row.dvr_seconds,
    profiles: row.profiles,
    previousEpoch: row.owner === null ? null : Number(row.owner),
    position: {
      nextMsn: Number(row.next_msn),
      discontinuitySequence: Number(row.discontinuity_sequence),
      endTicks: Number(row.end_ticks),
      targetDuration: row.target_duration,
      neededTargetDuration: row.target_duration,
      sound: row.sound,
    },
  };
}

/** From now on, rows of the session's earlier owners count only if their segments began before. */
export async function noteOwner(
  trx: Trx,
  { session, epoch, nodeId, at }: { session: OpenSession & { position: TimelinePosition | null } } & SessionOwner,
): Promise<void> {
  const row = { session_id: session.id, epoch, node_id: nodeId, began_at: at };
  await trx
    .insertInto("session_epoch")
    .values({ ...row, first_msn: session.position?.nextMsn ?? 1 })
    .execute();
}

interface SessionOwner {
  readonly epoch: number;
  readonly nodeId: string;
  readonly at: number;
}

/** The session's node died: facts about its spool may still arrive, so the recording settles later. */
export async function markSessionLost(trx: Trx, id: string, now: number): Promise<void> {
  await trx
    .updateTable("session")
    .set({ settle_at: now + SETTLE_AFTER_LOSS_MS })
    .where("id", "=", id)
    .execute();
}

/** End an open session at its last packet. Returns whether its recording is now waiting to settle. Throws `IllegalTransition` if it has ended. */
export async function endSession(trx: Trx, id: string, endedAt: number, now: number): Promise<boolean> {
  const row = await trx
    .selectFrom("session")
    .select(["ended_at", "recording"])
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  nextSessionStatus(row.ended_at === null ? "live" : "ended", "end");
  await trx
    .updateTable("session")
    .set({
      ended_at: endedAt,
      last_seen: sql<number>`greatest(last_seen, ${endedAt}::bigint)`,
      settle_at: sql<number>`greatest(settle_at, ${now + SETTLE_MS}::bigint)`,
      ingest_rate: 0,
      outgoing_rate: 0,
    })
    .where("id", "=", id)
    .execute();
  return row.recording === "waiting";
}
