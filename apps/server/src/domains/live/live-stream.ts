import type { Profile, RecordingSpec } from "@weir/contract";
import { sql } from "kysely";
import type { SessionStart } from "../../ports/index.ts";
import { NO_ISSUES } from "../issues/index.ts";
import type { StreamIssues } from "../open-issue.ts";
import type { Owner, Trx } from "../schema.ts";
import type { TargetState } from "../target-state.ts";
import type { StreamState } from "./stream-status.ts";

/** The current state of a stream, read under a lock on its row. A change of a live session takes this lock first. */
export interface LiveStream {
  readonly id: string;
  readonly owner: Owner;
  readonly name: string;
  readonly profiles: readonly Profile[];
  readonly record: boolean;
  readonly recordingSpec: RecordingSpec | null;
  /** How far viewers can go back; 0 for the whole session, null for not at all. */
  readonly dvrMinutes: number | null;
  readonly slate: SessionStart["slate"];
  readonly mayPublish: boolean;
  /** Of the owner. */
  nodeId: string | null;
  region: string | null;
  state: StreamState;
  /** The owner's: only its facts count. */
  epoch: number;
  /** The latest that was given to a publisher, whether its media has begun or not. */
  readonly grantEpoch: number;
  sessionId: string | null;
  lastSeen: number;
  reconnectUntil: number | null;
  /** The stream's open issues; none unless it is live. */
  issues: StreamIssues;
  /** The state of its targets; none unless it has a session. */
  targets: readonly TargetState[];
}

interface Row {
  id: string;
  project_id: string;
  user_id: string;
  name: string;
  profiles: Profile[];
  record: boolean;
  recording_spec: RecordingSpec | null;
  dvr_minutes: number | null;
  slate: Exclude<SessionStart["slate"], "off"> | null;
  may_publish: boolean;
  node_id: string | null;
  region: string | null;
  state: StreamState;
  epoch: string;
  grant_epoch: string;
  session_id: string | null;
  last_seen: string;
  reconnect_until: string | null;
  issues: StreamIssues | null;
  target_states: TargetState[] | null;
}

/** Lock streams in the order of their ids and read them. Unknown ids are absent from the answer. */
export async function lockLiveStreams(trx: Trx, ids: Iterable<string>): Promise<Map<string, LiveStream>> {
  const { rows } = await sql<Row>`
    select s.id, s.project_id, s.user_id, s.name, s.profiles, s.record, s.recording_spec, s.dvr_minutes, s.slate, s.node_id, n.region, s.state, s.epoch, s.grant_epoch,
      s.session_id, s.last_seen, s.reconnect_until, s.issues, s.target_states, s.deleted_at is null and not s.suspended and not a.suspended as may_publish
    from stream s join account a on a.id = s.user_id left join node n on n.id = s.node_id
    where s.id = any(${[...new Set(ids)]}::uuid[]) order by s.id for update of s`.execute(trx);
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        owner: { projectId: row.project_id, userId: row.user_id },
        name: row.name,
        profiles: row.profiles,
        record: row.record,
        recordingSpec: row.recording_spec,
        dvrMinutes: row.dvr_minutes,
        slate: row.slate ?? "off",
        mayPublish: row.may_publish,
        nodeId: row.node_id,
        region: row.region,
        state: row.state,
        epoch: Number(row.epoch),
        grantEpoch: Number(row.grant_epoch),
        sessionId: row.session_id,
        lastSeen: Number(row.last_seen),
        reconnectUntil: row.reconnect_until === null ? null : Number(row.reconnect_until),
        issues: row.issues ?? NO_ISSUES,
        targets: row.target_states ?? [],
      },
    ]),
  );
}

/** Write the issues of these streams. */
export async function saveIssues(trx: Trx, streams: readonly LiveStream[]): Promise<void> {
  if (streams.length === 0) return;
  await sql`
    update stream s set issues = f.issues
    from unnest(${streams.map(({ id }) => id)}::uuid[], ${streams.map(({ issues }) => JSON.stringify(issues))}::jsonb[])
      as f(id, issues)
    where s.id = f.id`.execute(trx);
}

/** Write the target states of these streams. */
export async function saveTargets(trx: Trx, streams: readonly LiveStream[]): Promise<void> {
  if (streams.length === 0) return;
  await sql`
    update stream s set target_states = f.states
    from unnest(${streams.map(({ id }) => id)}::uuid[], ${streams.map(({ targets }) => JSON.stringify(targets))}::jsonb[])
      as f(id, states)
    where s.id = f.id`.execute(trx);
}

/** Write a changed state back. `since` is given if `state` changed. */
export async function saveLiveStream(trx: Trx, stream: LiveStream, since: number | null): Promise<void> {
  await trx
    .updateTable("stream")
    .set({
      state: stream.state,
      epoch: stream.epoch,
      grant_epoch: sql<number>`greatest(grant_epoch, ${stream.epoch}::bigint)`,
      node_id: stream.nodeId,
      session_id: stream.sessionId,
      reconnect_until: stream.reconnectUntil,
      last_seen: stream.lastSeen,
      ...(since === null ? {} : { state_since: since }),
      ...(stream.state === "live" ? {} : { ingest_rate: 0, outgoing_rate: 0, issues: null, transcoding: null }),
      ...(stream.state === "idle" ? { target_states: null } : {}),
    })
    .where("id", "=", stream.id)
    .execute();
}
