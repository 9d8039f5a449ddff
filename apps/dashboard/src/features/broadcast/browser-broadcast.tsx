import type { BroadcastState, BroadcastStateChange } from "@weir/player/broadcast";
import { useEffect, useRef } from "react";
import { useLoadedElement } from "../../shared/lib/use-loaded-element.ts";
import classes from "./browser-broadcast.module.css";

interface Props {
  readonly streamKey: string | undefined;
  /** No broadcast may begin. */
  readonly isDisabled: boolean;
  readonly onState: (state: BroadcastState) => void;
}

/** Camera or screen, and a microphone, to a stream by WebRTC. The broadcast lives as long as this. */
export function BrowserBroadcast({ streamKey = "", isDisabled, onState }: Props) {
  const report = useRef(onState);
  report.current = onState;
  const give = (broadcast: HTMLElement): void => {
    broadcast.setAttribute("stream-key", streamKey);
    broadcast.toggleAttribute("disabled", isDisabled);
  };
  const make = (): HTMLElement => {
    const made = document.createElement("weir-broadcast");
    made.className = classes.broadcast ?? "";
    give(made);
    made.addEventListener("statechange", ({ detail }: CustomEventInit<BroadcastStateChange>) => {
      if (detail) report.current(detail.state);
    });
    return made;
  };
  const { frame, element } = useLoadedElement(() => import("@weir/player/broadcast"), make, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is given
  useEffect(() => {
    if (element.current) give(element.current);
  }, [streamKey, isDisabled]);
  return <div ref={frame} />;
}
