import type { ReactNode } from "react";
import classes from "./empty-state.module.css";

interface Props {
  readonly icon: ReactNode;
  readonly title: string;
  /** What belongs here, and how it gets here. */
  readonly body: string;
  readonly action?: ReactNode;
}

/** In place of a list that has nothing in it yet. */
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
