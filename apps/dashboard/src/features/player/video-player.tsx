import type { PlaybackFigures, WeirPlayer } from "@weir/player";
import { useEffect, useRef } from "react";
import { retried } from "../../shared/lib/lazy-page.ts";
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
  const frame = useRef<HTMLDivElement>(null);
  const report = useRef(onFigures);
  report.current = onFigures;
  const show = useRef(onVideo);
  show.current = onVideo;
  const address = useRef(src);
  const player = useRef<WeirPlayer | null>(null);

  useEffect(() => {
    address.current = src;
    player.current?.setAttribute("src", src);
  }, [src]);

  useEffect(() => {
    let isGone = false;
    void retried(() => import("@weir/player")).then(() => {
      if (isGone || !frame.current) return;
      const element = document.createElement("weir-player") as WeirPlayer;
      element.setAttribute("src", address.current);
      element.setAttribute("label", label);
      for (const [name, isOn] of [
        ["live", live],
        ["show-latency", true],
      ] as const)
        element.toggleAttribute(name, isOn);
      element.addEventListener("figures", ({ detail }: CustomEventInit<PlaybackFigures>) => {
        if (detail) report.current?.(detail);
      });
      element.addEventListener("videochange", () => {
        if (element.video) show.current?.(element.video);
      });
      player.current = element;
      frame.current.append(element);
    });
    return () => {
      isGone = true;
      player.current?.remove();
      player.current = null;
    };
  }, [live, label]);

  return <div ref={frame} className={classes.frame} />;
}
