import { sql } from "kysely";
import type { Owner } from "../schema.ts";
import type { DomainConfig } from "../settings.ts";
import { deleteSessions, type SessionDeletionDeps } from "./session-deletion.ts";

const BATCH = 100;
const DAY_MS = 86_400_000;

export interface RecordingExpiryDeps extends SessionDeletionDeps, Pick<DomainConfig, "recordingDays"> {}

/**
 * Delete recordings older than the retention of their stream or, by default, of the server. They are deleted as by hand: with an event, and with
 * their bytes an hour later.
 */
export async function expireRecordings(deps: RecordingExpiryDeps): Promise<void> {
  const { db, clock, log, recordingDays } = deps;
  for (;;) {
    const { rows } = await sql<{ id: string; project_id: string; user_id: string }>`
      select e.id, e.project_id, e.user_id from session e join stream s on s.id = e.stream_id
      where e.recording in ('ready', 'failed')
        and e.ended_at < ${clock.now()}::bigint - ${DAY_MS}::bigint * coalesce(s.retention_days, nullif(${recordingDays}::int, 0))
      order by e.ended_at, e.id limit ${BATCH}`.execute(db);
    const owners = new Map<string, Owner>(
      rows.map((row) => [row.project_id, { projectId: row.project_id, userId: row.user_id }]),
    );
    for (const owner of owners.values()) {
      const ids = rows.filter((row) => row.project_id === owner.projectId).map(({ id }) => id);
      await deleteSessions(deps, owner, ids);
      log.info({ recordings: ids.length, projectId: owner.projectId }, "deleted recordings that were kept long enough");
    }
    if (rows.length < BATCH) return;
  }
}
