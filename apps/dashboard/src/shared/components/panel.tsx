import { type ReactNode, useId } from "react";
import classes from "./panel.module.css";

interface Props {
  readonly title?: string;
  readonly hint?: string;
  /** Shown at the right of the title. */
  readonly action?: ReactNode;
  /** Only the title is shown until somebody opens it. */
  readonly isFolded?: boolean;
  readonly children?: ReactNode;
}

/** A bordered group of things that belong together. */
export function Panel({ title, hint, action, isFolded = false, children }: Props) {
  const id = useId();
  if (isFolded)
    return (
      <section className={classes.panel} aria-labelledby={id}>
        <details>
          <summary>
            <h2 id={id} className={classes.folded}>
              {title}
            </h2>
          </summary>
          <div className={classes.unfolded}>
            {action}
            {hint && <p className="quiet">{hint}</p>}
            {children}
          </div>
        </details>
      </section>
    );
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
