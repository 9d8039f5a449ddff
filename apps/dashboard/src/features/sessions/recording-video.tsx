import { VideoPlayer } from "../player/video-player.tsx";
import { usePreview } from "../preview/owner-preview.ts";
import { playbackIdOf } from "./recording-address.ts";

interface Props {
  readonly url: string;
  readonly label: string;
  /** Called with the video element when it is created. */
  readonly onVideo?: (video: HTMLVideoElement) => void;
}

/** A recording, played to its owner whatever its policy. The host of its public address may not work from here; the path does. */
export function RecordingVideo({ url, label, onVideo }: Props) {
  const playlist = new URL(url, window.location.href).pathname;
  const src = usePreview(playlist, playbackIdOf(url));
  return src && <VideoPlayer src={src} label={label} {...(onVideo && { onVideo })} />;
}
