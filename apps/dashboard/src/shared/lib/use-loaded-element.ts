import { type RefObject, useEffect, useRef } from "react";
import { retried } from "./lazy-page.ts";

interface LoadedElement<Made extends HTMLElement> {
  /** For the element around it. */
  readonly frame: RefObject<HTMLDivElement | null>;
  /** Null until the code is there. */
  readonly element: RefObject<Made | null>;
}

/**
 * A custom element in a frame from the moment its code is loaded until the component is gone. `make` is called again when one of `madeOf` changes;
 * other changes are for the component to pass on.
 */
export function useLoadedElement<Made extends HTMLElement>(
  load: () => Promise<unknown>,
  make: () => Made,
  madeOf: readonly unknown[],
): LoadedElement<Made> {
  const frame = useRef<HTMLDivElement>(null);
  const element = useRef<Made | null>(null);
  const latest = useRef({ load, make });
  latest.current = { load, make };
  useEffect(() => {
    let isGone = false;
    void retried(() => latest.current.load()).then(() => {
      if (isGone || !frame.current) return;
      element.current = latest.current.make();
      frame.current.append(element.current);
    });
    return () => {
      isGone = true;
      element.current?.remove();
      element.current = null;
    };
  }, [...madeOf]);
  return { frame, element };
}
