import type { PlaybackPolicy } from "@weir/contract";
import { sql } from "kysely";
import { isId, isPlaybackId } from "../ids.ts";
import type { Db } from "../schema.ts";

/** What an id leads to, for gates and playback answers. */
export interface PlayableRow {
  kind: "live" | "recording";
  /** Of the stream, or of the session. */
  id: string;
  project_id: string;
  playback_id: string;
  policy: PlaybackPolicy | null;
  state: string;
  seconds: number;
}

const recording = sql`
  select 'recording' as kind, e.id, e.project_id, e.recording_playback_id as playback_id, s.playback_policy as policy,
    e.recording as state, e.source_segments_duration as seconds
  from session e join stream s on s.id = e.stream_id join account a on a.id = e.user_id`;

/** A stream or a recording by its playback id. Deleted streams and what is suspended are not found; recordings outlive their stream. */
export async function findPlayable(db: Db, playbackId: string): Promise<PlayableRow | undefined> {
  if (!isPlaybackId(playbackId)) return undefined;
  const { rows } = await sql<PlayableRow>`
    select 'live' as kind, s.id, s.project_id, s.playback_id, s.playback_policy as policy, s.state, 0::float8 as seconds
    from stream s join account a on a.id = s.user_id
    where s.playback_id = ${playbackId} and s.deleted_at is null and not s.suspended and not a.suspended
    union all
    ${recording} where e.recording_playback_id = ${playbackId} and not s.suspended and not a.suspended`.execute(db);
  return rows[0];
}

/** The recording of a session by the session's id. */
export async function findPlayableSession(db: Db, sessionId: string): Promise<PlayableRow | undefined> {
  if (!isId(sessionId)) return undefined;
  const { rows } = await sql<PlayableRow>`
    ${recording} where e.id = ${sessionId} and e.recording <> 'none' and not s.suspended and not a.suspended`.execute(
    db,
  );
  return rows[0];
}
