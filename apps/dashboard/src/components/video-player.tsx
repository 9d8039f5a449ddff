import { Button } from "@mantine/core";
import { useFullscreenElement } from "@mantine/hooks";
import { IconMaximize, IconMinimize, IconVolumeOff } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { type PlaybackControl, type PlaybackFigures, playHls } from "../lib/hls-playback.ts";
import type { Quality } from "../lib/qualities.ts";
import { strings } from "../strings.ts";
import classes from "./video-player.module.css";

interface Props {
  /** Address of an HLS playlist, as a path on this server. */
  readonly src: string;
  readonly live?: boolean;
  readonly label: string;
  readonly onFigures?: (figures: PlaybackFigures) => void;
}

// Of the whole frame: the video's own button would leave the menu of qualities behind. Phones of some makes fill the screen with videos alone.
const canFill = document.fullscreenEnabled;

/** Starts by itself and muted. Says what it waits for, how far behind it is, and in which quality it plays. */
export function VideoPlayer({ src, live = false, label, onFigures }: Props) {
  const video = useRef<HTMLVideoElement>(null);
  const [figures, setFigures] = useState<PlaybackFigures>({ latencySeconds: null, stalls: 0 });
  const [problem, setProblem] = useState<string | null>(null);
  const [started, setStarted] = useState(false);
  const [muted, setMuted] = useState(true);
  const [qualities, setQualities] = useState<readonly Quality[]>([]);
  const [shown, setShown] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const { ref: frame, toggle: toggleFull, fullscreen: isFull } = useFullscreenElement<HTMLDivElement>();
  const control = useRef<PlaybackControl>(null);
  const report = useRef(onFigures);
  report.current = onFigures;

  useEffect(() => {
    if (!video.current) return;
    const abort = new AbortController();
    const onFigures = (now: PlaybackFigures): void => {
      setFigures(now);
      report.current?.(now);
    };
    const listener = { onFigures, onProblem: setProblem, onQualities: setQualities, onShown: setShown };
    control.current = playHls(video.current, src, live, listener, abort.signal);
    setChosen(null);
    return () => abort.abort();
  }, [src, live]);

  const unmute = (): void => {
    if (video.current) video.current.muted = false;
  };

  const choose = (quality: string | null): void => {
    setChosen(quality);
    control.current?.choose(quality);
  };

  return (
    <div ref={frame} className={classes.frame}>
      <video
        ref={video}
        className={classes.video}
        aria-label={label}
        muted
        playsInline
        controls
        {...(canFill && { controlsList: "nofullscreen" })}
        onPlaying={() => setStarted(true)}
        onVolumeChange={(event) => setMuted(event.currentTarget.muted)}
      />
      {figures.latencySeconds !== null && (
        <span className={classes.latency}>{strings.player.behind(figures.latencySeconds.toFixed(1))}</span>
      )}
      <div className={classes.tools}>
        {qualities.length > 1 && (
          <select
            className={classes.quality}
            aria-label={strings.player.quality}
            title={strings.player.quality}
            value={chosen ?? ""}
            onChange={(event) => choose(event.currentTarget.value || null)}
          >
            <option value="">{shown === null ? strings.player.auto : strings.player.autoAt(shown)}</option>
            {qualities.map(({ id, label }) => (
              <option key={id} value={id}>
                {label}
              </option>
            ))}
          </select>
        )}
        {started && muted && live && (
          <Button size="xs" variant="default" leftSection={<IconVolumeOff size={16} aria-hidden />} onClick={unmute}>
            {strings.player.unmute}
          </Button>
        )}
        {canFill && (
          <button
            type="button"
            className={classes.fill}
            aria-label={isFull ? strings.player.leaveFull : strings.player.full}
            title={isFull ? strings.player.leaveFull : strings.player.full}
            onClick={toggleFull}
          >
            {isFull ? <IconMinimize size={18} aria-hidden /> : <IconMaximize size={18} aria-hidden />}
          </button>
        )}
      </div>
      {(problem ?? (!started && strings.player.starting)) && (
        <p className={classes.note} role="status">
          {problem ?? strings.player.starting}
        </p>
      )}
    </div>
  );
}
