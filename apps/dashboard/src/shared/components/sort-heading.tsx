import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import classes from "./sort-heading.module.css";

/** A field that a list is sorted by. A dash before it means descending. */
type Sort<Field extends string> = Field | `-${Field}`;

interface Props<Field extends string> {
  readonly field: Field;
  readonly name: string;
  /** Texts sort from A at first, all else from the newest or largest. */
  readonly isText: boolean;
  readonly sort: Sort<Field> | undefined;
  readonly onSort: (sort: Sort<Field>) => void;
}

/** The heading of a column that a list can be sorted by; a second press turns the order round. */
export function SortHeading<Field extends string>({ field, name, isText, sort, onSort }: Props<Field>) {
  const first: Sort<Field> = isText ? field : `-${field}`;
  const second: Sort<Field> = isText ? `-${field}` : field;
  const sorted = sortedBy(field, sort);
  const Icon = sorted === "ascending" ? IconArrowUp : IconArrowDown;
  return (
    <button type="button" className={classes.sort} onClick={() => onSort(sort === first ? second : first)}>
      {name}
      <Icon size={14} className={classes.arrow} data-shown={sorted !== undefined} aria-hidden />
    </button>
  );
}

/** How a column is sorted, in the words of `aria-sort`. */
export function sortedBy(field: string, sort: string | undefined): "ascending" | "descending" | undefined {
  if (sort === field) return "ascending";
  return sort === `-${field}` ? "descending" : undefined;
}
