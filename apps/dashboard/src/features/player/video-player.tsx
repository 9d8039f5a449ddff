import type { PlaybackFigures, WeirPlayer } from "@weir/player";
import { useEffect, useRef } from "react";
import { useLoadedElement } from "../../shared/lib/use-loaded-element.ts";
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

/** The player on the dashboard's pages. It starts by itself, muted, and shows its latency. */
export function VideoPlayer(props: Props) {
  const [path] = props.src.split("?");
  return <PlayerOfPath key={path} {...props} />;
}

function PlayerOfPath({ src, live = false, label, onFigures, onVideo }: Props) {
  const report = useRef(onFigures);
  report.current = onFigures;
  const show = useRef(onVideo);
  show.current = onVideo;
  const make = (): WeirPlayer => {
    const made = document.createElement("weir-player") as WeirPlayer;
    made.setAttribute("src", src);
    made.setAttribute("label", label);
    made.toggleAttribute("live", live);
    made.toggleAttribute("show-latency", true);
    made.addEventListener("figures", ({ detail }: CustomEventInit<PlaybackFigures>) => {
      if (detail) report.current?.(detail);
    });
    made.addEventListener("videochange", () => {
      if (made.video) show.current?.(made.video);
    });
    return made;
  };
  const { frame, element } = useLoadedElement(() => import("@weir/player"), make, [live, label]);
  useEffect(() => element.current?.setAttribute("src", src), [element, src]);
  return <div ref={frame} className={classes.frame} />;
}
