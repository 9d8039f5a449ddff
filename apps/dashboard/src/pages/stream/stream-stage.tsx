import { Button } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import type { Stream } from "@weir/contract";
import type { PlaybackFigures } from "@weir/player";
import { useState } from "react";
import { LiveClipButton } from "../../features/clips/live-clip-button.tsx";
import { VideoPlayer } from "../../features/player/video-player.tsx";
import { usePreview } from "../../features/preview/owner-preview.ts";
import page from "../../shared/components/page.module.css";
import { PanelBoundary } from "../../shared/components/panel-boundary.tsx";
import { strings } from "../../shared/strings.ts";
import { LastBroadcast } from "./last-broadcast.tsx";
import { RefusedAttempts } from "./refused-attempts.tsx";
import { StreamFigures } from "./stream-figures.tsx";
import classes from "./stream-stage.module.css";
import { SilenceCauses, WaitingForVideo } from "./waiting-for-video.tsx";

const text = strings.streams.page;

interface Props {
  readonly stream: Stream;
  /** Another tab's content is next to the stage: it shows only the live picture, and on small screens only on request. */
  readonly isAside: boolean;
}

/** The picture of a live stream with its figures, the last broadcast of an idle one, or what a new one waits for. */
export function StreamStage({ stream, isAside }: Props) {
  if (stream.status.state !== "idle") return <LiveStage stream={stream} isAside={isAside} />;
  if (isAside) return null;
  if (stream.lastSeen > 0)
    return (
      <div className={classes.aside}>
        <RefusedAttempts stream={stream} />
        <LastBroadcast stream={stream} />
      </div>
    );
  if (stream.suspended) return null;
  return (
    <div className={`${page.withFacts} ${classes.stage}`}>
      <WaitingForVideo stream={stream} />
      <div className={classes.aside}>
        <RefusedAttempts stream={stream} />
        <SilenceCauses />
      </div>
    </div>
  );
}

function LiveStage({ stream, isAside }: Props) {
  const [figures, setFigures] = useState<PlaybackFigures | null>(null);
  const [isWanted, setWanted] = useState(false);
  const isSmall = useMediaQuery("(max-width: 64em)", undefined, { getInitialValueInEffect: false });
  const preview = usePreview(`/hls/${stream.playbackId}/index.m3u8`, stream.playbackId);
  const isHidden = isAside && isSmall && !isWanted;
  return (
    <div className={isAside ? classes.aside : `${page.withFacts} ${classes.stage}`}>
      {isAside && isSmall && (
        <Button variant="default" size="compact-sm" onClick={() => setWanted(!isWanted)}>
          {isWanted ? text.hidePlayer : text.showPlayer}
        </Button>
      )}
      {!isHidden && (
        <>
          <PanelBoundary>
            {preview && <VideoPlayer src={preview} live label={text.player} onFigures={setFigures} />}
          </PanelBoundary>
          <StreamFigures stream={stream} playback={figures}>
            <LiveClipButton stream={stream} latencySeconds={figures?.latencySeconds ?? 0} />
          </StreamFigures>
        </>
      )}
    </div>
  );
}
