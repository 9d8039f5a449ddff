import { useEffect, useRef, useState } from "react";
import { strings } from "../../shared/strings.ts";
import classes from "./drop-zone.module.css";

/** Takes files that a person drops anywhere in the window, and says so while the person holds them over it. */
export function DropZone({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    const abort = new AbortController();
    const listen = (type: "dragover" | "dragleave" | "drop", listener: (event: DragEvent) => void): void =>
      window.addEventListener(type, listener, { signal: abort.signal });
    listen("dragover", (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(true);
    });
    // An event without a related element means that the pointer left the window.
    listen("dragleave", (event) => event.relatedTarget === null && setOver(false));
    listen("drop", (event) => {
      setOver(false);
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      take.current([...event.dataTransfer.files]);
    });
    return () => abort.abort();
  }, []);
  return isOver && <div className={classes.zone}>{strings.assets.drop}</div>;
}
