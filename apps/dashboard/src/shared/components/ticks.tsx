import { type Dispatch, memo, type SetStateAction } from "react";
import { strings } from "../strings.ts";
import classes from "./ticks.module.css";

/** The ids of the ticked rows. */
export type Ticked = ReadonlySet<string>;
export type OnTick = Dispatch<SetStateAction<Ticked>>;

interface TickProps {
  readonly id: string;
  /** The name of the row, for screen readers. */
  readonly name: string;
  readonly ticked: boolean;
  /** Why the row cannot be selected; absent where it can. */
  readonly disabled?: string | undefined;
  readonly onTick: OnTick;
}

/** The box that selects a row of a list. A browser's own box: a list has many, and each costs little. */
export const Tick = memo(({ id, name, ticked, disabled, onTick }: TickProps) => (
  <label className={classes.target} title={disabled}>
    <input
      type="checkbox"
      className={classes.box}
      aria-label={disabled === undefined ? strings.ticks.one(name) : `${strings.ticks.one(name)}: ${disabled}`}
      checked={ticked}
      disabled={disabled !== undefined}
      onChange={() => onTick((before) => toggled(before, id))}
    />
  </label>
));

/** Exported for its test. */
export function toggled(ticked: Ticked, id: string): Ticked {
  const next = new Set(ticked);
  if (!next.delete(id)) next.add(id);
  return next;
}

interface TickAllProps {
  /** The rows that can be ticked. */
  readonly rows: readonly { readonly id: string }[];
  readonly ticked: Ticked;
  readonly onTick: OnTick;
}

/** The box over the others: ticks all of them, or none. */
export function TickAll({ rows, ticked, onTick }: TickAllProps) {
  const count = rows.filter(({ id }) => ticked.has(id)).length;
  const isAll = count > 0 && count === rows.length;
  return (
    <label className={classes.target}>
      <input
        ref={(box) => {
          if (box) box.indeterminate = count > 0 && !isAll;
        }}
        type="checkbox"
        className={classes.box}
        aria-label={strings.ticks.all}
        checked={isAll}
        disabled={rows.length === 0}
        onChange={() => onTick(new Set(isAll ? [] : rows.map(({ id }) => id)))}
      />
    </label>
  );
}
