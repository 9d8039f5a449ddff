import { type ReactNode, useId } from "react";
import classes from "./panel.module.css";

interface Props {
  readonly title?: string;
  readonly hint?: string;
  /** Shown at the right of the title. */
  readonly action?: ReactNode;
  readonly children?: ReactNode;
}

/** A bordered group of things that belong together. */
export function Panel({ title, hint, action, children }: Props) {
  const id = useId();
  return (
    <section className={classes.panel} {...(title === undefined ? {} : { "aria-labelledby": id })}>
      {title && (
        <div className={classes.head}>
          <h2 id={id}>{title}</h2>
          {action}
        </div>
      )}
      {hint && <p className="quiet">{hint}</p>}
      {children}
    </section>
  );
}
