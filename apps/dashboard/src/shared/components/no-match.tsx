import { Button } from "@mantine/core";
import { strings } from "../strings.ts";
import classes from "./no-match.module.css";

interface Props {
  readonly children: string;
  readonly onClear: () => void;
}

/** Stands in place of a list whose filters leave nothing, with the way back. */
export function NoMatch({ children, onClear }: Props) {
  return (
    <div className={classes.none} role="status">
      <p>{children}</p>
      <Button variant="default" onClick={onClear}>
        {strings.actions.clearFilters}
      </Button>
    </div>
  );
}
