import { useEffect, useRef } from "react";
import { retried } from "../../shared/lib/lazy-page.ts";
import type { PlaybackFigures } from "./hls-playback.ts";
import type { MountedPlayer } from "./player.ts";
import classes from "./video-player.module.css";

interface Props {
  /** Address of an HLS playlist, as a path on this server. Another query, with a newer token, does not interrupt the video. */
  readonly src: string;
  readonly live?: boolean;
  readonly label: string;
  readonly onFigures?: (figures: PlaybackFigures) => void;
  /** Called with the video element when it is created. */
  readonly onVideo?: (video: HTMLVideoElement) => void;
}

/** The player of the dashboard's pages. It starts by itself, muted, and shows its latency. */
export function VideoPlayer(props: Props) {
  const [path] = props.src.split("?");
  return <PlayerOfPath key={path} {...props} />;
}

function PlayerOfPath({ src, live = false, label, onFigures, onVideo }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const report = useRef(onFigures);
  report.current = onFigures;
  const show = useRef(onVideo);
  show.current = onVideo;
  const address = useRef(src);
  const player = useRef<MountedPlayer | null>(null);

  useEffect(() => {
    address.current = src;
    player.current?.moveTo(src);
  }, [src]);

  useEffect(() => {
    const place = frame.current;
    if (!place) return;
    const abort = new AbortController();
    const listener = {
      onFigures: (figures: PlaybackFigures) => report.current?.(figures),
      onVideo: (video: HTMLVideoElement) => show.current?.(video),
    };
    void retried(() => import("./player.ts")).then(({ mountPlayer }) => {
      if (abort.signal.aborted) return;
      const options = { src: address.current, live, label, isDashboard: true };
      player.current = mountPlayer(place, options, listener, abort.signal);
    });
    return () => {
      player.current = null;
      abort.abort();
    };
  }, [live, label]);

  return <div ref={frame} className={classes.frame} />;
}
