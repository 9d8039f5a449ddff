import { Button } from "@mantine/core";
import { IconVolumeOff } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { type PlaybackFigures, playHls } from "../lib/hls-playback.ts";
import { strings } from "../strings.ts";
import classes from "./video-player.module.css";

interface Props {
  /** Address of an HLS playlist, as a path on this server. */
  readonly src: string;
  readonly live?: boolean;
  readonly label: string;
  readonly onFigures?: (figures: PlaybackFigures) => void;
}

/** Starts by itself and muted. Says what it waits for, and how far behind it is. */
export function VideoPlayer({ src, live = false, label, onFigures }: Props) {
  const video = useRef<HTMLVideoElement>(null);
  const [figures, setFigures] = useState<PlaybackFigures>({ latencySeconds: null, stalls: 0 });
  const [problem, setProblem] = useState<string | null>(null);
  const [started, setStarted] = useState(false);
  const [muted, setMuted] = useState(true);
  const report = useRef(onFigures);
  report.current = onFigures;

  useEffect(() => {
    if (!video.current) return;
    const abort = new AbortController();
    const onFigures = (now: PlaybackFigures): void => {
      setFigures(now);
      report.current?.(now);
    };
    playHls(video.current, src, live, { onFigures, onProblem: setProblem }, abort.signal).catch(() =>
      setProblem(strings.player.unreachable),
    );
    return () => abort.abort();
  }, [src, live]);

  const unmute = (): void => {
    if (video.current) video.current.muted = false;
  };

  return (
    <div className={classes.frame}>
      <video
        ref={video}
        className={classes.video}
        aria-label={label}
        muted
        playsInline
        controls
        onPlaying={() => setStarted(true)}
        onVolumeChange={(event) => setMuted(event.currentTarget.muted)}
      />
      {figures.latencySeconds !== null && (
        <span className={classes.latency}>{strings.player.behind(figures.latencySeconds.toFixed(1))}</span>
      )}
      {started && muted && live && (
        <Button
          className={classes.unmute ?? ""}
          size="xs"
          variant="default"
          leftSection={<IconVolumeOff size={16} aria-hidden />}
          onClick={unmute}
        >
          {strings.player.unmute}
        </Button>
      )}
      {(problem ?? (!started && strings.player.starting)) && (
        <p className={classes.note} role="status">
          {problem ?? strings.player.starting}
        </p>
      )}
    </div>
  );
}
