import type { PlaybackPolicy } from "@weir/contract";
import { type RawBuilder, sql } from "kysely";
import type { LivePlace } from "../../ports/index.ts";
import type { KeyState } from "../access-control/index.ts";
import { isId, isPlaybackId } from "../ids.ts";
import type { Db } from "../schema.ts";

/** The content behind an id, for gates and playback responses. */
export interface PlayableRow {
  kind: "live" | "recording" | "asset";
  /** Id of the stream, session or asset. */
  id: string;
  project_id: string;
  user_id: string;
  playback_id: string;
  /** Name of the stream or asset. */
  name: string;
  policy: PlaybackPolicy | null;
  /** The project's keys, if the policy requires tokens. */
  signing_keys: KeyState[];
  /** A live stream whose viewers can go back. */
  has_dvr: boolean;
  /** A stream that is pulled from its source only while somebody watches. */
  only_while_watched: boolean;
  /** The stream or its account is suspended: it exists, and nobody can watch it. */
  suspended: boolean;
  /** Originals of the project are given only to holders of owner tokens. */
  originals_for_keys_only: boolean;
  /** For stored content: `ready` as soon as it can be watched. */
  state: string;
  seconds: number;
  /** Begin of a stream's newest broadcast, or of the recorded one, or when the asset was created; milliseconds. Null before the first broadcast. */
  started_at: string | null;
  /** Size of a recording as one MP4; null until known. */
  mp4_bytes: string | null;
  /** Of a stream that somebody publishes, where nodes reach each other. */
  place: LivePlace | null;
}

// The query includes the keys, so that looking up content with a policy takes no longer than looking up unknown content.
const guard = sql`
  (select p.originals_for_keys_only from project p where p.id = s.project_id) as originals_for_keys_only,
  s.project_id, s.user_id, s.name, s.playback_policy as policy,
  case when s.playback_policy->>'type' = 'jwt' then (
    select coalesce(json_agg(json_build_object('id', k.id, 'publicKey', k.public_key, 'disabled', k.disabled)), '[]')
    from signing_key k where k.project_id = s.project_id
  ) else '[]' end as signing_keys`;

const recordings = sql`
  select false as has_dvr, false as only_while_watched, 'recording' as kind, e.created_at as started_at, e.id, e.recording_playback_id as playback_id, e.recording as state,
    e.source_segments_duration as seconds, e.mp4_bytes, null::json as place, (s.suspended or a.suspended) as suspended, ${guard}
  from session e join stream s on s.id = e.stream_id join account a on a.id = s.user_id`;

const assets = sql`
  select false as has_dvr, false as only_while_watched, 'asset' as kind, s.created_at as started_at, s.id, s.playback_id, case when s.playable_at is null then s.phase else 'ready' end as state,
    coalesce((s.video_spec->>'duration')::float8, 0) as seconds, null::bigint as mp4_bytes, null::json as place, a.suspended, ${guard}
  from asset s join account a on a.id = s.user_id`;

/** A stream, recording or asset by its playback id. Deleted streams and assets are not found; recordings outlive their stream and keep its policy. */
export async function findPlayable(db: Db, playbackId: string): Promise<PlayableRow | undefined> {
  if (!isPlaybackId(playbackId)) return undefined;
  return firstOf(
    db,
    sql`select exists (select from session e where e.id = s.session_id and e.dvr_seconds is not null) as has_dvr,
        coalesce(s.pull->>'onlyWhileWatched' = 'true', false) as only_while_watched, 'live' as kind, (select max(e.created_at) from session e where e.stream_id = s.id) as started_at,
         s.id, s.playback_id, s.state, 0::float8 as seconds, null::bigint as mp4_bytes,
        (select json_build_object('nodeId', n.id, 'address', n.address) from node n
          where n.id = s.node_id and n.address is not null and n.state <> 'gone' and s.state <> 'idle') as place,
        (s.suspended or a.suspended) as suspended, ${guard}
      from stream s join account a on a.id = s.user_id
      where s.playback_id = ${playbackId} and s.deleted_at is null
      union all
      ${recordings} where e.recording_playback_id = ${playbackId}
      union all
      ${assets} where s.playback_id = ${playbackId} and s.deleted_at is null`,
  );
}

/** The recording of a session, by the session's id. */
export async function findPlayableSession(db: Db, sessionId: string): Promise<PlayableRow | undefined> {
  if (!isId(sessionId)) return undefined;
  return firstOf(db, sql`${recordings} where e.id = ${sessionId} and e.recording <> 'none'`);
}

async function firstOf(db: Db, query: RawBuilder<unknown>): Promise<PlayableRow | undefined> {
  return (await sql<PlayableRow>`${query}`.execute(db)).rows[0];
}
