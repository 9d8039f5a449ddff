import type { StreamInfo } from "@weir/contract";
import { found } from "../api/index.ts";
import type { Db, Owner } from "../schema.ts";
import { findLatestSession, findSession, sessionRecord } from "../sessions/index.ts";
import { streamRecord } from "./stream-record.ts";
import { findStream, findStreamBy } from "./stream-store.ts";

/** The object that `text` names: a stream by its key, playback id or id, with its latest session; or a session with its stream. */
export async function readStreamInfo(
  db: Db,
  owner: Owner,
  text: string,
  { publicUrl, now }: { readonly publicUrl: string; readonly now: number },
): Promise<StreamInfo> {
  const byKey = await findStreamBy(db, owner, "stream_key", text);
  const byPlaybackId = byKey ? undefined : await findStreamBy(db, owner, "playback_id", text);
  const byId = byKey ?? byPlaybackId ?? (await findStream(db, owner, text));
  const named = byId ? undefined : await findSession(db, owner, text);
  const row = found(byId ?? (named && (await findStream(db, owner, named.stream_id))));
  const session = named ?? (await findLatestSession(db, owner, row.id));
  return {
    stream: streamRecord(row, now),
    ...(session ? { session: sessionRecord(session, { publicUrl }) } : {}),
    isPlaybackid: byPlaybackId !== undefined,
    isSession: named !== undefined,
    isStreamKey: byKey !== undefined,
  };
}
