import { type ForwardedRef, type RefObject, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";

/** Attributes by name; null and undefined leave one out. */
export type Attributes = Readonly<Record<string, string | null | undefined>>;

/** Handlers by the name of the event. */
export type Handlers = Readonly<Record<string, ((event: Event) => void) | undefined>>;

/** The text of an attribute that is on without a value. */
export const flag = (isOn: boolean | undefined): string | null => (isOn ? "" : null);

interface ElementOptions<Made extends HTMLElement> {
  /** Loads the code of the element: in the browser alone, once the component is on the page. */
  readonly load: () => Promise<unknown>;
  readonly attributes: Attributes;
  readonly handlers: Handlers;
  /** Sets properties; called when one of `properties` changes. */
  readonly prepare?: (element: Made) => void;
  readonly properties?: readonly unknown[];
}

/** React says on a server that it runs no layout effects there. */
const useBrowserEffect = typeof document === "undefined" ? useEffect : useLayoutEffect;

/**
 * Makes a custom element of the one that the component renders. Attributes are set here and not by React: version 18 knows no properties of custom
 * elements, and version 19 sets those that have the names of attributes.
 */
export function useElement<Made extends HTMLElement>(
  forwarded: ForwardedRef<Made>,
  { load, attributes, handlers, prepare, properties = [] }: ElementOptions<Made>,
): RefObject<Made | null> {
  const element = useRef<Made | null>(null);
  const latest = useRef({ load, handlers });
  latest.current = { load, handlers };
  useImperativeHandle(forwarded, () => element.current as Made, []);

  const events = Object.keys(handlers).join(" ");
  useBrowserEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    for (const name of events.split(" "))
      element.current?.addEventListener(name, (event) => latest.current.handlers[name]?.(event), { signal });
    return () => abort.abort();
  }, [events]);
  useBrowserEffect(() => {
    if (element.current) prepare?.(element.current);
  }, [...properties]);
  useBrowserEffect(() => {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined) element.current?.removeAttribute(name);
      else if (element.current?.getAttribute(name) !== value) element.current?.setAttribute(name, value);
    }
  });
  useEffect(() => void latest.current.load(), []);
  return element;
}
