import { sql } from "kysely";
import type { EventDeps, NewEvent } from "../events/index.ts";
import type { NewViewers } from "../new-viewers.ts";
import type { Trx } from "../schema.ts";

/** Limit per transaction; during a rush, further viewers are not reported individually. */
const MAX_EVENTS = 5_000;

/**
 * `playback.user.new` for each viewer session, but only if a webhook wants it: otherwise a popular subject would fill its log with events that
 * nobody reads. Runs last in its transaction, like every append.
 */
export async function tellNewViewers(
  trx: Trx,
  { events, clock }: Pick<EventDeps, "events" | "clock">,
  viewers: readonly NewViewers[],
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select distinct f.id from unnest(${viewers.map(({ subject }) => subject.id)}::uuid[],
      ${viewers.map(({ owner }) => owner.projectId)}::uuid[]) as f(id, project_id)
    join webhook w on w.project_id = f.project_id and 'playback.user.new' = any(w.events)
      and (w.stream_id is null or w.stream_id = f.id::text)`.execute(trx);
  const askedFor = new Set(rows.map(({ id }) => id));
  const at = clock.now();
  const told = viewers.flatMap(({ playbackId, subject, owner, viewerIds }): NewEvent[] => {
    if (!askedFor.has(subject.id)) return [];
    return viewerIds.map((viewerId) => ({
      subject,
      owner,
      at,
      kind: "telemetry",
      body: {
        type: "webhook_event",
        event: "playback.user.new",
        userId: owner.userId,
        payload: { playbackId, viewerId },
      },
    }));
  });
  await events.append(trx, told.slice(0, MAX_EVENTS));
}
