import { Link } from "@tanstack/react-router";
import covering from "./covering-link.module.css";
import { Sparkline } from "./sparkline.tsx";
import classes from "./tile.module.css";

export interface TileFigure {
  readonly name: string;
  readonly value: string;
  readonly hint?: string;
  /** Used share of what there is, 0 to 1. */
  readonly used?: number;
  /** The same figure over time, oldest first. */
  readonly trend?: readonly number[];
  /** Address of the page that has more about it. */
  readonly to?: string;
}

/** Class of the list that tiles stand in. */
export const tiles = classes.tiles ?? "";

/** One figure, large, with what it is a part of. */
export function Tile({ name, value, hint, used, trend, to }: TileFigure) {
  return (
    <div className={classes.tile}>
      <dt>
        {to === undefined ? (
          name
        ) : (
          <Link to={to} className={covering.link}>
            {name}
          </Link>
        )}
      </dt>
      <dd>
        <strong className={classes.value}>{value}</strong>
        {hint && <span className="quiet">{hint}</span>}
        {trend && <Sparkline values={trend} />}
        {used !== undefined && (
          <span className={classes.bar} aria-hidden>
            <span style={{ width: `${Math.min(100, Math.max(0, used * 100))}%` }} />
          </span>
        )}
      </dd>
    </div>
  );
}
