import { type ReactNode, useId } from "react";
import classes from "./panel.module.css";

interface Props {
  readonly title?: string;
  readonly hint?: string;
  readonly children?: ReactNode;
}

/** A bordered group of things that belong together. */
export function Panel({ title, hint, children }: Props) {
  const id = useId();
  return (
    <section className={classes.panel} {...(title === undefined ? {} : { "aria-labelledby": id })}>
      {title && <h2 id={id}>{title}</h2>}
      {hint && <p className="quiet">{hint}</p>}
      {children}
    </section>
  );
}
