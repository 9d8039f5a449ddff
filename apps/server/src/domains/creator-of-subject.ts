import { sql } from "kysely";

/** Joins the tables that `creator` needs to rows `v` with a `subject_kind` and a `subject_id`. PostgreSQL removes joins that a query does not use. */
export const withCreator = sql`
  left join session e on v.subject_kind = 'asset' and e.id = v.subject_id
  left join asset a on v.subject_kind = 'asset' and a.id = v.subject_id
  left join stream s on s.id = coalesce(e.stream_id, v.subject_id)`;

/** The creator of such a row: an asset's own, or for a recording that of its stream; null if there is none. */
export const creator = sql`coalesce(a.creator_id, s.creator_id)`;

/** A row of something without a creator has no field for it: clients accept no null. */
export function withoutNulls<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Row;
}
