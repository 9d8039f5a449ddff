import { useEffect, useRef } from "react";
import { retried } from "../lib/lazy-page.ts";
import type { PlaybackFigures } from "./hls-playback.ts";
import classes from "./video-player.module.css";

interface Props {
  /** Address of an HLS playlist, as a path on this server. */
  readonly src: string;
  readonly live?: boolean;
  readonly label: string;
  readonly onFigures?: (figures: PlaybackFigures) => void;
  /** The element that shows the video, once it is there. */
  readonly onVideo?: (video: HTMLVideoElement) => void;
}

/** The player of the dashboard's pages. It starts by itself, muted, and shows its latency. */
export function VideoPlayer({ src, live = false, label, onFigures, onVideo }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const report = useRef(onFigures);
  report.current = onFigures;
  const show = useRef(onVideo);
  show.current = onVideo;

  useEffect(() => {
    const place = frame.current;
    if (!place) return;
    const abort = new AbortController();
    const listener = {
      onFigures: (figures: PlaybackFigures) => report.current?.(figures),
      onVideo: (video: HTMLVideoElement) => show.current?.(video),
    };
    void retried(() => import("./player.ts")).then(({ mountPlayer }) => {
      if (!abort.signal.aborted) mountPlayer(place, { src, live, label, showLatency: live }, listener, abort.signal);
    });
    return () => abort.abort();
  }, [src, live, label]);

  return <div ref={frame} className={classes.frame} />;
}
