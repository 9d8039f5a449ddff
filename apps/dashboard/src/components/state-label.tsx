import classes from "./state-label.module.css";

/** `warning` turns: something is being waited for. `held` stands still until somebody does something. */
export type Tone = "live" | "warning" | "held" | "failure" | "quiet";

/** A dot and a word. The dot's shape differs too, for people who cannot tell the colours apart. */
export function StateLabel({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span className={classes.label} data-tone={tone}>
      <span className={classes.dot} aria-hidden />
      {children}
    </span>
  );
}
