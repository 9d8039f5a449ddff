import { sql } from "kysely";
import type { Clock } from "../../platform/clock.ts";
import type { EventLog, NewEvent } from "../events/index.ts";
import type { Trx } from "../schema.ts";

export interface BegunViewers {
  readonly playbackId: string;
  readonly streamId: string;
  readonly viewerIds: readonly string[];
}

/** In one transaction; of a rush beyond that nobody is told one by one. */
const MOST_EVENTS = 5_000;

interface StreamRow {
  id: string;
  project_id: string;
  user_id: string;
}

/**
 * `playback.user.new` for each viewer session, where a webhook asks for it: elsewhere a popular stream would fill its log with what nobody
 * reads. Last in its transaction, as every appending is.
 */
export async function tellNewViewers(
  trx: Trx,
  { events, clock }: { readonly events: EventLog; readonly clock: Clock },
  viewers: readonly BegunViewers[],
): Promise<void> {
  const { rows } = await sql<StreamRow>`
    select s.id, s.project_id, s.user_id from stream s
    where s.id = any(${[...new Set(viewers.map(({ streamId }) => streamId))]}::uuid[]) and exists (
      select from webhook w where w.project_id = s.project_id and 'playback.user.new' = any(w.events)
        and (w.stream_id is null or w.stream_id = s.id::text))`.execute(trx);
  const streams = new Map(rows.map((row) => [row.id, row]));
  const at = clock.now();
  const told = viewers.flatMap(({ playbackId, streamId, viewerIds }): NewEvent[] => {
    const stream = streams.get(streamId);
    if (!stream) return [];
    const owner = { projectId: stream.project_id, userId: stream.user_id };
    return viewerIds.map((viewerId) => ({
      streamId,
      owner,
      at,
      kind: "telemetry",
      body: {
        type: "webhook_event",
        event: "playback.user.new",
        userId: stream.user_id,
        payload: { playbackId, viewerId },
      },
    }));
  });
  await events.append(trx, told.slice(0, MOST_EVENTS));
}
