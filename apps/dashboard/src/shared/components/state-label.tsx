import classes from "./state-label.module.css";

/** `warning` turns while something is awaited. `held` does not move: a person has to act. */
export type Tone = "live" | "warning" | "held" | "failure" | "done" | "quiet";

/** A dot and a word. The dot's shape differs too, for people who cannot distinguish the colours. */
export function StateLabel({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <span className={classes.label} data-tone={tone}>
      <span className={classes.dot} aria-hidden />
      {children}
    </span>
  );
}
