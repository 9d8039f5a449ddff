import type { Profile, RecordingSpec } from "@weir/contract";
import { type RawBuilder, sql } from "kysely";
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

/** Who sends a session from `at` on: an epoch on a node. */
interface SessionOwner {
  readonly epoch: number;
  readonly nodeId: string;
  readonly at: number;
}

/** The settings that a session copies from its stream when it starts. */
export interface SessionSeed extends SessionOwner {
  readonly streamId: string;
  readonly owner: Owner;
  readonly name: string;
  readonly profiles: readonly Profile[];
  readonly record: boolean;
  readonly recordingSpec: RecordingSpec | null;
  readonly dvrSeconds: number | null;
}

export interface OpenSession {
  readonly id: string;
  readonly startedAtMs: number;
  readonly record: boolean;
  /** How far viewers can go back; null if they cannot. */
  readonly dvrSeconds: number | null;
  readonly profiles: readonly Profile[];
  /** Where a resumed session goes on; null for a new one. */
  readonly position: TimelinePosition | null;
  /** The owner before; null for a new session. */
  readonly previousEpoch: number | null;
  /** The stream's latest other session with a closed segment. */
  readonly last: LastSession | null;
}

/** What a stream's session takes over from the one before it. */
export interface LastSession {
  /** What its keyframes would have required, in seconds. */
  readonly targetDuration: number;
  /** Null if it had none. */
  readonly sound: SessionSound | null;
}

const lastSession = (streamId: RawBuilder<unknown>, id: string) => sql<LastSession | null>`(
  select json_build_object('targetDuration', l.needed_target_duration, 'sound', l.sound) from session l
  where l.stream_id = ${streamId} and l.needed_target_duration is not null and l.id <> ${id}::uuid order by l.created_at desc limit 1)`;

/** Begin a session with its first owner: one statement. */
export async function beginSession(trx: Trx, seed: SessionSeed): Promise<OpenSession> {
  const { streamId, record, dvrSeconds, profiles, epoch, nodeId, at } = seed;
  const id = newId();
  const { last } = await trx
    .with("begun", (db) =>
      db.insertInto("session").values({
        id,
        project_id: seed.owner.projectId,
        user_id: seed.owner.userId,
        stream_id: streamId,
        name: seed.name,
        profiles: JSON.stringify(profiles),
        record,
        recording_spec: seed.recordingSpec && JSON.stringify(seed.recordingSpec),
        dvr_seconds: dvrSeconds,
        created_at: at,
        last_seen: at,
        epoch,
        recording: record ? "waiting" : "none",
        recording_playback_id: record ? newPlaybackId(id) : null,
      }),
    )
    .with("owned", (db) =>
      db.insertInto("session_epoch").values({ session_id: id, epoch, node_id: nodeId, began_at: at, first_msn: 1 }),
    )
    .selectNoFrom(lastSession(sql`${streamId}::uuid`, id).as("last"))
    .executeTakeFirstOrThrow();
  return { id, startedAtMs: at, record, dvrSeconds, profiles, position: null, previousEpoch: null, last };
}

export interface Resume extends SessionOwner {
  /** The session's last owner was on this node. */
  readonly isSameNode: boolean;
}

/**
 * Continue an open session under a new owner: one statement. Advances the position too, so that a third publisher starts behind the second. From now
 * on, rows of the session's earlier owners count only if their segments began before.
 */
export async function resumeSession(
  trx: Trx,
  id: string,
  { epoch, nodeId, at, isSameNode }: Resume,
): Promise<OpenSession> {
  const sinceMs = sql`greatest(0, ${at}::bigint - coalesce(position_at, last_seen))`;
  const skipped = RESUME_SEGMENTS + (isSameNode ? 0 : APART_SEGMENTS);
  const row = await trx
    .with("resumed", (db) =>
      db
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
        .returningAll(),
    )
    .with("owned", (db) =>
      db
        .insertInto("session_epoch")
        .columns(["session_id", "epoch", "node_id", "began_at", "first_msn"])
        .expression(
          db
            .selectFrom("resumed")
            .select([
              "id",
              sql<number>`${epoch}::bigint`.as("epoch"),
              sql<string>`${nodeId}::uuid`.as("node_id"),
              sql<number>`${at}::bigint`.as("began_at"),
              "next_msn",
            ]),
        ),
    )
    .selectFrom("resumed")
    .select([
      "created_at",
      "record",
      "dvr_seconds",
      "profiles",
      "next_msn",
      "discontinuity_sequence",
      "end_ticks",
      "target_duration",
      "sound",
      // As it was before this statement.
      sql<string | null>`(select max(o.epoch) from session_epoch o where o.session_id = resumed.id)`.as("owner"),
      lastSession(sql`resumed.stream_id`, id).as("last"),
    ])
    .executeTakeFirstOrThrow();
  return {
    id,
    startedAtMs: Number(row.created_at),
    record: row.record,
    dvrSeconds: row.dvr_seconds,
    profiles: row.profiles,
    previousEpoch: row.owner === null ? null : Number(row.owner),
    last: row.last,
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
    .updateTable("session")
    .set({
      ended_at: endedAt,
      last_seen: sql<number>`greatest(last_seen, ${endedAt}::bigint)`,
      settle_at: sql<number>`greatest(settle_at, ${now + SETTLE_MS}::bigint)`,
      ingest_rate: 0,
      outgoing_rate: 0,
    })
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .returning("recording")
    .executeTakeFirst();
  nextSessionStatus(row ? "live" : "ended", "end");
  return row?.recording === "waiting";
}
