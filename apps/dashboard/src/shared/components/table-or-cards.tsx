import { useMediaQuery } from "@mantine/hooks";
import type { ReactNode } from "react";
import classes from "./table.module.css";

interface Column<Item> {
  /** The column's heading; empty over buttons. */
  readonly name: string;
  /** An element in place of the name. */
  readonly heading?: ReactNode;
  /** How the rows are sorted by this column. */
  readonly sorted?: "ascending" | "descending" | undefined;
  readonly className?: string | undefined;
  readonly cell: (item: Item) => ReactNode;
}

interface Props<Item> {
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly card: (item: Item) => ReactNode;
  /** Below this width of the window the columns have no room. */
  readonly narrow?: string;
}

/** A list: a table on wide screens, cards on phones. */
export function TableOrCards<Item extends { readonly id: string }>({
  items,
  columns,
  card,
  narrow = "48em",
}: Props<Item>) {
  const isNarrow = useMediaQuery(`(max-width: ${narrow})`, undefined, { getInitialValueInEffect: false });
  if (isNarrow) {
    return (
      <ul className={classes.cards}>
        {items.map((item) => (
          <li key={item.id} className={classes.card}>
            {card(item)}
          </li>
        ))}
      </ul>
    );
  }
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          {columns.map(({ name, heading = name, sorted, className }) =>
            heading === "" ? (
              <td key={name} />
            ) : (
              <th key={name} scope="col" className={className} aria-sort={sorted}>
                {heading}
              </th>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={item.id}>
            {columns.map(({ name, className, cell }) => (
              <td key={name} className={className}>
                {cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
