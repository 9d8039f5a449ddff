import classes from "./tile.module.css";

export interface TileFigure {
  readonly name: string;
  readonly value: string;
  readonly hint?: string;
  /** Used share of what there is, 0 to 1. */
  readonly used?: number;
}

/** Class of the list that tiles stand in. */
export const tiles = classes.tiles ?? "";

/** One figure, large, with what it is a part of. */
export function Tile({ name, value, hint, used }: TileFigure) {
  return (
    <div className={classes.tile}>
      <dt>{name}</dt>
      <dd>
        <strong className={classes.value}>{value}</strong>
        {hint && <span className="quiet">{hint}</span>}
        {used !== undefined && (
          <span className={classes.bar} aria-hidden>
            <span style={{ width: `${Math.min(100, Math.max(0, used * 100))}%` }} />
          </span>
        )}
      </dd>
    </div>
  );
}
