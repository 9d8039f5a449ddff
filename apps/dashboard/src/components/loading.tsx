import { strings } from "../strings.ts";
import classes from "./loading.module.css";

/** In place of content that is on its way: grey bars, of which only the first says so. */
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
