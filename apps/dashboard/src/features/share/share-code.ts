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

/** The player's script, as this server has it now: its address never changes its content. */
export interface PlayerScript {
  /** Path of the version. */
  readonly path: string;
  /** For the attribute of the same name (Subresource Integrity); null where the browser does not compute it, on a page without HTTPS. */
  readonly integrity: string | null;
}

/** Follows the short name of the player's script to its version. */
export async function fetchPlayerScript(): Promise<PlayerScript> {
  const response = await fetch("/player.js");
  if (!response.ok) throw new Error(`the server has no player script: ${response.status}`);
  const bytes = await response.arrayBuffer();
  const digest = await globalThis.crypto.subtle?.digest("SHA-384", bytes);
  const integrity = digest ? `sha384-${btoa(String.fromCharCode(...new Uint8Array(digest)))}` : null;
  return { path: new URL(response.url).pathname, integrity };
}

export function elementCode({ origin, playbackId }: SharedVideo, { path, integrity }: PlayerScript): string {
  const checked = integrity === null ? "" : `\n  integrity="${integrity}"\n  crossorigin="anonymous"`;
  return `<script
  type="module"
  src="${origin}${path}"${checked}
></script>
<weir-player playback-id="${playbackId}"></weir-player>`;
}

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
