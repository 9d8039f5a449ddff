import type { ReactNode } from "react";
import classes from "./selection-bar.module.css";

interface Props {
  readonly label: string;
  readonly count: string;
  readonly children: ReactNode;
}

/** Actions for the ticked rows of a list. */
export function SelectionBar({ label, count, children }: Props) {
  return (
    <div className={classes.bar} role="toolbar" aria-label={label}>
      <strong aria-live="polite">{count}</strong>
      {children}
    </div>
  );
}
