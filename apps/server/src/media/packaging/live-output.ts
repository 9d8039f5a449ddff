import type { LivePlaylist } from "./hls/live-playlist.ts";
import type { LiveRendition } from "./live-rendition.ts";
import type { RenditionPackager } from "./rendition-packager.ts";

/** The live window of a rendition, with what writes it and what lists it. */
export interface LiveOutput {
  readonly rendition: LiveRendition;
  readonly packager: RenditionPackager;
  readonly playlist: LivePlaylist;
}
