import type { ReactNode } from "react";
import classes from "./empty-state.module.css";

interface Props {
  readonly icon: ReactNode;
  readonly title: string;
  /** One sentence: the things that this list will show, and how they get here. */
  readonly body: string;
  readonly action?: ReactNode;
}

/** Stands in place of a list that has nothing in it yet. */
export function EmptyState({ icon, title, body, action }: Props) {
  return (
    <div className={classes.empty}>
      <span className={classes.icon} aria-hidden>
        {icon}
      </span>
      <h2>{title}</h2>
      <p className="quiet">{body}</p>
      {action}
    </div>
  );
}
