import { strings } from "../strings.ts";
import classes from "./loading.module.css";

/** Grey bars in place of content that is loading. Screen readers hear it once. */
export function Loading({ lines = 4 }: { readonly lines?: number }) {
  return (
    <div className={classes.loading} role="status" aria-busy>
      <span className={classes.words}>{strings.app.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={String(line)} className={classes.line} aria-hidden />
      ))}
    </div>
  );
}
