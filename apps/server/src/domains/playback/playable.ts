import type { PlaybackContent, ViewerPass } from "../../ports/index.ts";
import type { GuardedContent } from "../access-control/index.ts";
import type { PlayableRow } from "./playback-store.ts";

/** The reason why nobody can watch it, with any credential, as a sentence for its owner; null if somebody can. */
export function whyNotPlayable({ kind, state, suspended }: PlayableRow): string | null {
  if (suspended) return kind === "asset" ? "the account is suspended" : "the stream or its account is suspended";
  if (kind === "asset" && state !== "ready") return "the asset is not ready for playback yet, or it has failed";
  if (kind === "recording" && state !== "ready") return "the recording is not ready, or there is none";
  return null;
}

/** A recording deleted by its owner: playback information answers 404, so the media may do the same. */
export function isGone({ kind, state, suspended }: PlayableRow): boolean {
  return kind === "recording" && state === "deleted" && !suspended;
}

/** The content as the media floor knows it. */
export function contentOf(row: PlayableRow, pass: ViewerPass | null = null): PlaybackContent {
  const { kind, id, project_id: projectId } = row;
  if (kind === "live")
    return {
      kind,
      streamId: id,
      projectId,
      ...(row.place && { place: row.place }),
      ...(row.only_while_watched && { onlyWhileWatched: true }),
    };
  const isOriginalWithheld = row.originals_for_keys_only && pass?.kind !== "owner";
  return { kind, id, projectId, ...(kind === "asset" && isOriginalWithheld && { isOriginalWithheld }) };
}

/** The content as access control knows it. */
export const guardedContentOf = (row: PlayableRow): GuardedContent => ({
  playbackId: row.playback_id,
  projectId: row.project_id,
  policy: row.policy,
  signingKeys: row.signing_keys,
});
