import { VideoPlayer } from "../../player/video-player.tsx";
import { usePreview } from "../preview/owner-preview.ts";

/** A recording, played to its owner whatever its policy. The host of its public address may not work from here; the path does. */
export function RecordingVideo({ url, label }: { readonly url: string; readonly label: string }) {
  const playlist = new URL(url, window.location.href).pathname;
  const src = usePreview(playlist, playlist.split("/").at(-2) ?? "");
  return src && <VideoPlayer src={src} label={label} />;
}
