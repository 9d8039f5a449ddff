import type { ReactNode } from "react";
import classes from "./no-video.module.css";

interface Props {
  readonly title: string;
  /** Why there is none, and what to do. */
  readonly children?: ReactNode;
}

/** Stands in a player's place where there is no video. */
export function NoVideo({ title, children }: Props) {
  return (
    <div className={classes.frame} role="status">
      <strong className={classes.title}>{title}</strong>
      {children}
    </div>
  );
}
