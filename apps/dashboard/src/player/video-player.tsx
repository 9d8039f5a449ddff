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
}

/** The player of the dashboard's pages. It starts by itself, muted, and shows its latency. */
export function VideoPlayer({ src, live = false, label, onFigures }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const report = useRef(onFigures);
  report.current = onFigures;

  useEffect(() => {
    const place = frame.current;
    if (!place) return;
    const abort = new AbortController();
    const listener = { onFigures: (figures: PlaybackFigures) => report.current?.(figures) };
    void retried(() => import("./player.ts")).then(({ mountPlayer }) => {
      if (!abort.signal.aborted) mountPlayer(place, { src, live, label, showLatency: live }, listener, abort.signal);
    });
    return () => abort.abort();
  }, [src, live, label]);

  return <div ref={frame} className={classes.frame} />;
}
