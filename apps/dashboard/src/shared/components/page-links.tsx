import { Button } from "@mantine/core";
import { strings } from "../strings.ts";

interface Props {
  readonly cursor: string | undefined;
  readonly nextCursor: string | undefined;
  readonly onCursor: (cursor: string | undefined) => void;
}

/** Links to the next page and to the first one; the browser's "back" button leads to those between. A list of one page has no links. */
export function PageLinks({ cursor, nextCursor, onCursor }: Props) {
  if (cursor === undefined && nextCursor === undefined) return null;
  return (
    <nav style={{ display: "flex", gap: 8, justifyContent: "flex-end" }}>
      <Button variant="default" disabled={cursor === undefined} onClick={() => onCursor(undefined)}>
        {strings.actions.firstPage}
      </Button>
      <Button variant="default" disabled={nextCursor === undefined} onClick={() => onCursor(nextCursor)}>
        {strings.actions.nextPage}
      </Button>
    </nav>
  );
}
