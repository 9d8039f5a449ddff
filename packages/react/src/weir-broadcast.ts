import type {
  BroadcastFigures,
  BroadcastStateChange,
  WeirBroadcast as WeirBroadcastElement,
} from "@weir/player/broadcast";
import { type CSSProperties, createElement, forwardRef, type ReactNode } from "react";
import { flag, useElement } from "./use-element.ts";

export type { WeirBroadcastElement };

/** The attributes of `<weir-broadcast>` as properties, and its events. */
export interface WeirBroadcastProps {
  /** Origin of the server, such as `https://video.example.com`. */
  readonly server: string;
  readonly streamKey: string;
  /** What it begins with; `camera` by default. */
  readonly source?: "camera" | "screen" | undefined;
  /** No broadcast may begin. */
  readonly disabled?: boolean | undefined;
  readonly onStateChange?: ((change: BroadcastStateChange) => void) | undefined;
  readonly onFigures?: ((figures: BroadcastFigures) => void) | undefined;
  readonly className?: string | undefined;
  readonly style?: CSSProperties | undefined;
  /** Shown below the controls. */
  readonly children?: ReactNode;
}

const load = (): Promise<unknown> => import("@weir/player/broadcast");

/** `<weir-broadcast>`. Its ref is the element, with `start()`, `stop()`, `muted` and `media`. */
export const WeirBroadcast = forwardRef<WeirBroadcastElement, WeirBroadcastProps>(
  function WeirBroadcast(props, forwarded) {
    const { server, streamKey, source, disabled, onStateChange, onFigures, className, style, children } = props;
    const ref = useElement<WeirBroadcastElement>(forwarded, {
      load,
      attributes: { server, source, disabled: flag(disabled), "stream-key": streamKey },
      handlers: {
        statechange: (event) => onStateChange?.((event as CustomEvent<BroadcastStateChange>).detail),
        figures: (event) => onFigures?.((event as CustomEvent<BroadcastFigures>).detail),
      },
    });
    return createElement("weir-broadcast", { ref, class: className, style: { display: "block", ...style } }, children);
  },
);
