import { FIRST_AUDIO_TRACK, type Track } from "../packet.ts";

/** The name of the rendition of a source's track in addresses and rows: `source`, `audio`, and further audio `audio2`, `audio3` … Rungs of a ladder have short ids of their own. */
export function renditionNameOf({ kind, id }: Pick<Track, "kind" | "id">): string {
  if (kind === "video") return "source";
  return id === FIRST_AUDIO_TRACK ? kind : `${kind}${id}`;
}
