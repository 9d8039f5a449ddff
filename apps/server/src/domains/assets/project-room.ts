import { sql } from "kysely";
import type { Db } from "../schema.ts";

/**
 * Bytes that a project may still store; null for any number. Files count with their original size, clips with the size of their media, and
 * recordings with the bytes of their broadcast: a project over its limit gets no more files and clips, but still records.
 */
export async function projectRoom(db: Db, projectId: string, limit: number): Promise<number | null> {
  if (limit === 0) return null;
  const { rows } = await sql<{ bytes: string }>`
    select coalesce((select sum(size) from asset where project_id = ${projectId}), 0)
      + coalesce((select sum(source_bytes + case when recording_spec->'profiles' = '[]'::jsonb then 0 else transcoded_bytes end)
          from session where project_id = ${projectId} and recording in ('waiting', 'ready')), 0) as bytes`.execute(db);
  return Math.max(0, limit - Number(rows[0]?.bytes));
}
