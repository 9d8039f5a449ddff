import { FIRST_AUDIO_TRACK, type Track } from "../packet.ts";

/**
 * The rendition name of a source's track in URLs and rows: `source`, `audio`, and further audio as `audio2`, `audio3` … Rungs of a ladder have
 * short ids of their own.
 */
export function renditionNameOf({ kind, id }: Pick<Track, "kind" | "id">): string {
  if (kind === "video") return "source";
  return id === FIRST_AUDIO_TRACK ? kind : `${kind}${id}`;
}
