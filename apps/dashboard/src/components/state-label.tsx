import classes from "./state-label.module.css";

export type Tone = "live" | "warning" | "failure" | "quiet";

/** A dot and a word. The dot's shape differs too, for whoever does not see the colours. */
export function StateLabel({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span className={classes.label} data-tone={tone}>
      <span className={classes.dot} aria-hidden />
      {children}
    </span>
  );
}
