import { useInViewport } from "@mantine/hooks";
import { IconBroadcast } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { Stream } from "@weir/contract";
import { useEffect, useState } from "react";
import { ownerTokenQuery } from "./owner-preview.ts";
import { StillRounds } from "./still-rounds.ts";
import classes from "./thumbnail.module.css";

/** The server makes a new picture of a stream at most this often. */
const PERIOD_MS = 5000;

const rounds = new StillRounds({ load: loadImage, periodMs: PERIOD_MS, maxAtOnce: 4 });
document.addEventListener("visibilitychange", () => rounds.pause(document.hidden));

interface Props {
  readonly stream: Stream;
  /** In pixels. */
  readonly width: 160 | 320;
}

/** The newest picture of a live stream, renewed every few seconds while it is in sight. A sign takes its place while there is none. */
export function LiveStill(props: Props) {
  if (props.stream.isActive) return <Still {...props} />;
  return (
    <span className={classes.thumbnail} aria-hidden>
      <IconBroadcast size={18} />
    </span>
  );
}

function Still({ stream, width }: Props) {
  const { ref, inViewport } = useInViewport();
  const path = useStillPath(stream, width, inViewport);
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    if (path === null) return;
    // Everybody who looks at a stream asks for the same address, so that caches in between can answer.
    const address = (): string => `${path}&turn=${Math.floor(Date.now() / PERIOD_MS)}`;
    return rounds.add({ address, show: setShown });
  }, [path]);
  return (
    <span ref={ref} className={classes.thumbnail} data-live aria-hidden>
      {shown === null ? <IconBroadcast size={18} /> : <img src={shown} alt="" />}
    </span>
  );
}

/** The path of a stream's picture; null while it is not in sight, before there is one, and until the owner's token has arrived. */
function useStillPath(stream: Stream, width: number, isInSight: boolean): string | null {
  const { playbackId, playbackPolicy } = stream;
  // What was measured has come: before, the server has no picture, and the browser's console would show an error for each attempt.
  const hasPicture = stream.ingestRate > 0 || stream.status.state === "reconnecting";
  const isGated = (playbackPolicy?.type ?? "public") !== "public";
  const { data } = useQuery({ ...ownerTokenQuery(playbackId), enabled: isInSight && hasPicture && isGated });
  if (!isInSight || !hasPicture || (isGated && !data)) return null;
  return `/hls/${playbackId}/source/latest.jpg?width=${width}${isGated && data ? `&jwt=${data.token}` : ""}`;
}

/** Loads and decodes off the main thread. The browser then shows the picture from its memory. */
async function loadImage(address: string): Promise<void> {
  const image = new Image();
  image.src = address;
  await image.decode();
}
