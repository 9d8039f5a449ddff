import type { MediaServerMetricsEvent } from "@weir/contract";
import { sql } from "kysely";
import type { Trx } from "../schema.ts";

export type NamedTarget = MediaServerMetricsEvent["multistream"][number]["target"];

/** What streams are to be forwarded to: the targets that they name and that are not disabled, in their order. */
export async function enabledTargets(
  trx: Trx,
  streamIds: Iterable<string>,
): Promise<ReadonlyMap<string, readonly NamedTarget[]>> {
  const ids = [...new Set(streamIds)];
  if (ids.length === 0) return new Map();
  const { rows } = await sql<NamedTarget & { stream_id: string }>`
    select s.id as stream_id, t.id, t.name, r.ref->>'profile' as profile
    from stream s cross join jsonb_array_elements(s.targets) with ordinality as r(ref, place)
    join multistream_target t on t.id = (r.ref->>'id')::uuid and t.project_id = s.project_id and not t.disabled
    where s.id = any(${ids}::uuid[]) order by s.id, r.place`.execute(trx);
  return Map.groupBy(rows, (row) => row.stream_id);
}
