import type { MediaServerMetricsEvent } from "@weir/contract";
import { sql } from "kysely";
import type { RestreamTarget } from "../../ports/index.ts";
import type { Db, Trx } from "../schema.ts";
import type { TargetState } from "../target-state.ts";

export type NamedTarget = MediaServerMetricsEvent["multistream"][number]["target"];

/** What streams are to be forwarded to: the targets that they name and that are not disabled, in their order. */
export async function enabledTargets(
  trx: Trx,
  streamIds: Iterable<string>,
): Promise<ReadonlyMap<string, readonly NamedTarget[]>> {
  const ids = [...new Set(streamIds)];
  if (ids.length === 0) return new Map();
  const { rows } = await sql<NamedTarget & { stream_id: string }>`
    select s.id as stream_id, t.id, t.name, r.ref->>'profile' as profile ${namedTargets(ids)}`.execute(trx);
  return Map.groupBy(rows, (row) => row.stream_id);
}

interface ForwardRow extends NamedTarget {
  url: string;
  video_only: boolean;
  slate: boolean;
  target_states: TargetState[] | null;
}

/** The same of one stream, with their addresses, for those who send to them; and what its session has given up. */
export async function targetsToForward(db: Db | Trx, streamId: string): Promise<RestreamTarget[]> {
  const { rows } = await sql<ForwardRow>`
    select t.id, t.name, r.ref->>'profile' as profile, t.url, coalesce((r.ref->>'videoOnly')::boolean, false) as video_only,
      coalesce((r.ref->>'slate')::boolean, false) as slate, s.target_states ${namedTargets([streamId])}`.execute(db);
  return rows.map(({ id, name, profile, url, video_only: videoOnly, slate, target_states: states }) => {
    const known = states?.find(({ target }) => target.id === id && target.profile === profile);
    return { id, name, profile, url, videoOnly, slate, givenUp: known?.state === "offline" ? known.reason : null };
  });
}

const namedTargets = (streamIds: readonly string[]) => sql`
  from stream s cross join jsonb_array_elements(s.targets) with ordinality as r(ref, place)
  join multistream_target t on t.id = (r.ref->>'id')::uuid and t.project_id = s.project_id and not t.disabled
  where s.id = any(${streamIds}::uuid[]) order by s.id, r.place`;
