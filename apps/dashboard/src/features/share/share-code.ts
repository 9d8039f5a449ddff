/** Code that shows a video on a page of the customer's. Addresses are absolute; `origin` has no slash at its end. */
export interface SharedVideo {
  readonly origin: string;
  readonly playbackId: string;
  /** Path of the HLS playlist, which stored media have elsewhere than live streams. */
  readonly playlist: string;
}

export const watchAddress = ({ origin, playbackId }: SharedVideo): string => `${origin}/watch/${playbackId}`;

export const hlsAddress = ({ origin, playlist }: SharedVideo): string => `${origin}${playlist}`;

export const iframeCode = ({ origin, playbackId }: SharedVideo): string =>
  `<iframe
  src="${origin}/embed/${playbackId}"
  style="width: 100%; aspect-ratio: 16 / 9; border: 0"
  allow="autoplay; fullscreen; picture-in-picture"
></iframe>`;

export const hlsJsCode = (video: SharedVideo): string =>
  `<video id="player" controls muted playsinline></video>
<script type="module">
  import Hls from "https://cdn.jsdelivr.net/npm/hls.js@1/dist/hls.mjs";

  const src = "${hlsAddress(video)}";
  const player = document.getElementById("player");
  if (Hls.isSupported()) {
    const hls = new Hls({ lowLatencyMode: true, maxLiveSyncPlaybackRate: 1.5 });
    hls.loadSource(src);
    hls.attachMedia(player);
  } else {
    player.src = src;
  }
</script>`;

export const reactCode = (video: SharedVideo): string =>
  `import Hls from "hls.js";
import { useEffect, useRef } from "react";

export function Video() {
  const player = useRef<HTMLVideoElement>(null);

  useEffect(() => {
    if (!player.current) return;
    if (!Hls.isSupported()) {
      player.current.src = "${hlsAddress(video)}";
      return;
    }
    const hls = new Hls({ lowLatencyMode: true, maxLiveSyncPlaybackRate: 1.5 });
    hls.loadSource("${hlsAddress(video)}");
    hls.attachMedia(player.current);
    return () => hls.destroy();
  }, []);

  return <video ref={player} controls muted playsInline />;
}`;
