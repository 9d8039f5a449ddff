import type { PlaybackFigures, StateChange, WeirPlayer as WeirPlayerElement } from "@weir/player";
import { type CSSProperties, createElement, forwardRef, type ReactNode, useRef } from "react";
import { flag, useElement } from "./use-element.ts";

export type { WeirPlayerElement };

/** The attributes of `<weir-player>` as properties, and its events. */
export interface WeirPlayerProps {
  /** Origin of the server, such as `https://video.example.com`. */
  readonly server: string;
  readonly playbackId: string;
  readonly token?: string | undefined;
  readonly accessKey?: string | undefined;
  /** Returns a token that is valid now: at the start, before one expires, and when the server refuses one. */
  readonly getToken?: (() => string | Promise<string>) | undefined;
  readonly lowLatency?: boolean | undefined;
  /** True by default. */
  readonly autoplay?: boolean | undefined;
  /** True by default: browsers let no page start with sound before somebody used it. */
  readonly muted?: boolean | undefined;
  readonly loop?: boolean | undefined;
  /** Where a recording begins, in seconds. */
  readonly start?: number | undefined;
  /** Names the video for screen readers. */
  readonly label?: string | undefined;
  /** Address of a picture of your own, in place of the video's. */
  readonly poster?: string | undefined;
  readonly showLatency?: boolean | undefined;
  readonly onStateChange?: ((change: StateChange) => void) | undefined;
  readonly onFigures?: ((figures: PlaybackFigures) => void) | undefined;
  readonly className?: string | undefined;
  readonly style?: CSSProperties | undefined;
  /** Elements for the slots `top` and `controls`. */
  readonly children?: ReactNode;
}

/** The element's own place, before its code is there. */
const PLACE: CSSProperties = { display: "block", aspectRatio: "16 / 9" };
const load = (): Promise<unknown> => import("@weir/player");
const onOrOff = (isOn: boolean | undefined): string | null => (isOn === false ? "false" : null);

/** `<weir-player>`. Its ref is the element, with the properties and events of a media element. */
export const WeirPlayer = forwardRef<WeirPlayerElement, WeirPlayerProps>(function WeirPlayer(props, forwarded) {
  const { server, playbackId, token, accessKey, getToken, lowLatency, autoplay, muted, loop, start, label } = props;
  const { poster, showLatency, onStateChange, onFigures, className, style, children } = props;
  const latest = useRef(getToken);
  latest.current = getToken;
  const hasGetToken = getToken !== undefined;
  const ref = useElement<WeirPlayerElement>(forwarded, {
    load,
    attributes: {
      server,
      token,
      "access-key": accessKey,
      "low-latency": flag(lowLatency),
      autoplay: onOrOff(autoplay),
      muted: onOrOff(muted),
      loop: flag(loop),
      start: start === undefined ? null : String(start),
      label,
      poster,
      "show-latency": flag(showLatency),
      "playback-id": playbackId,
    },
    handlers: {
      statechange: (event) => onStateChange?.((event as CustomEvent<StateChange>).detail),
      figures: (event) => onFigures?.((event as CustomEvent<PlaybackFigures>).detail),
    },
    properties: [hasGetToken],
    prepare: (element) => {
      // One function for all of the page's: another one would begin the video anew.
      element.getToken = hasGetToken ? async () => (await latest.current?.()) ?? "" : null;
    },
  });
  return createElement("weir-player", { ref, class: className, style: { ...PLACE, ...style } }, children);
});
