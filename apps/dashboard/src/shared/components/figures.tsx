import type { ReactNode } from "react";
import classes from "./figures.module.css";

export interface Figure {
  readonly name: string;
  readonly value: ReactNode;
  /** How the value is measured; shown on hover. */
  readonly hint?: string;
}

/** Names and values in two columns, the values aligned for comparing. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl className={classes.figures}>
      {figures.map(({ name, value, hint }) => (
        <div key={name} className={classes.figure} title={hint}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
