import { Button } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { useState } from "react";
import { SelectionBar } from "../../shared/components/selection-bar.tsx";
import { strings } from "../../shared/strings.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import type { BulkAction } from "./stream-queries.ts";

const text = strings.streams.selection;

interface Props {
  readonly selected: readonly Stream[];
  readonly onClear: () => void;
}

/** The actions for the selected streams. Each asks once and says how many streams it is about, or names the only one. */
export function StreamSelection({ selected, onClear }: Props) {
  const [asking, setAsking] = useState<BulkAction | null>(null);
  return (
    <>
      <SelectionBar label={text.label} count={text.count(selected.length)}>
        <Button variant="default" onClick={() => setAsking("suspend")} disabled={selected.every((it) => it.suspended)}>
          {text.suspend.confirm}
        </Button>
        <Button
          variant="default"
          onClick={() => setAsking("unsuspend")}
          disabled={!selected.some((it) => it.suspended)}
        >
          {text.unsuspend.confirm}
        </Button>
        <Button variant="default" c="var(--w-failure)" onClick={() => setAsking("delete")}>
          {text.delete.confirm}
        </Button>
        <Button variant="subtle" color="gray" onClick={onClear}>
          {text.clear}
        </Button>
      </SelectionBar>
      {asking && <BulkDialog action={asking} streams={selected} onClose={() => setAsking(null)} onDone={onClear} />}
    </>
  );
}
