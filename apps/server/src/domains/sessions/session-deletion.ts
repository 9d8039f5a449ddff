import { sql } from "kysely";
import type { MediaControl } from "../../ports/index.ts";
import { ApiError, NotFound } from "../api/index.ts";
import type { EventDeps } from "../events/index.ts";
import { isId } from "../ids.ts";
import { deleteRecordings, refuseViewers } from "../recordings/index.ts";
import type { Owner, Trx } from "../schema.ts";

export interface SessionDeletionDeps extends EventDeps {
  readonly mediaControl: Pick<MediaControl, "accessChanged">;
}

class MissingIds extends ApiError {
  constructor() {
    super(422, "missing-ids", "missing ids");
  }
}

class SessionLive extends ApiError {
  constructor(id: string) {
    super(409, "session-live", `session ${id} is live: end its broadcast, then delete its recording`);
  }
}

/** Delete the recordings of all of these sessions, or of none if one is unknown or live. */
export async function deleteSessions(
  deps: SessionDeletionDeps,
  owner: Owner,
  ids: readonly string[] | undefined,
): Promise<void> {
  if (!ids || ids.length === 0) throw new MissingIds();
  const unique = [...new Set(ids)];
  if (!unique.every(isId)) throw new NotFound();
  const { db, clock, events, mediaControl, log } = deps;
  const deleted = await db.transaction().execute(async (trx) => {
    const sessions = await lockSessions(trx, owner, unique);
    if (sessions.length !== unique.length) throw new NotFound();
    const live = sessions.find(({ ended_at: endedAt }) => endedAt === null);
    if (live) throw new SessionLive(live.id);
    const recordings = await deleteRecordings(trx, unique, clock.now());
    await events.append(trx, recordings.events);
    return recordings;
  });
  try {
    await refuseViewers(mediaControl, deleted.playbackIds);
  } catch (error) {
    // The database already says so: the gate refuses viewers at its next query.
    log.error({ err: error, sessionIds: unique }, "could not notify media nodes of deleted recordings");
  }
}

/** Lock streams first, in the order of their ids, as everywhere. */
async function lockSessions(trx: Trx, { projectId }: Owner, ids: readonly string[]) {
  const found = sql`id = any(${ids}::uuid[]) and project_id = ${projectId}`;
  await sql`
    select id from stream where id in (select stream_id from session where ${found}) order by id for update`.execute(
    trx,
  );
  const { rows } = await sql<{ id: string; ended_at: string | null }>`
    select id, ended_at from session where ${found} order by id for update`.execute(trx);
  return rows;
}
