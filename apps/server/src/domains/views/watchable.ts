import { sql } from "kysely";

/**
 * Everything that can be watched, as the rows of a query: a subject, its playback id, its owner, and the subject whose log reports its viewers.
 * A recording is an asset with the id of its session; the log of its stream reports its viewers.
 */
export const watchables = sql`(
  select 'stream'::text as kind, id, playback_id, project_id, user_id, 'stream'::text as log_kind, id as log_id
  from stream
  union all
  select 'asset'::text, id, recording_playback_id, project_id, user_id, 'stream'::text, stream_id
  from session
  union all
  select 'asset'::text, id, playback_id, project_id, user_id, 'asset'::text, id
  from asset
)`;
