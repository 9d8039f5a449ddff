import type { Slices } from "../../platform/slices.ts";
import type { StaticMp4 } from "../../ports/index.ts";
import { ArchiveMp4 } from "./archive-mp4.ts";
import type { StoredMedia } from "./stored-media.ts";
import { secondsOf } from "./stored-rendition.ts";

/** Lays out the MP4 of one rendition, by default the best video, and describes it. */
export async function staticMp4(
  media: StoredMedia,
  slices: Slices,
  name: string,
  rendition?: string,
): Promise<StaticMp4> {
  const { renditions } = media.index;
  const video = renditions.find(({ track }) => track.kind === "video");
  const shown = rendition ?? video?.rendition ?? "audio";
  const { size } = await ArchiveMp4.build(media, slices, shown);
  const { width, height } = renditions.find((each) => each.rendition === shown)?.track ?? {};
  const bitrate = Math.round((size * 8) / Math.max(secondsOf(media.index), 0.001));
  return { name, rendition: shown, bytes: size, ...(width && height && { width, height }), bitrate };
}
