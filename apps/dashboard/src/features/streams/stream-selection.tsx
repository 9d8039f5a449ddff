import { Button } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { SelectionBar } from "../../components/selection-bar.tsx";
import { toast } from "../../components/toasts.tsx";
import { strings } from "../../strings.ts";
import { type BulkAction, useBulkAction } from "./stream-queries.ts";

const text = strings.streams.selection;

interface Props {
  readonly selected: readonly Stream[];
  readonly onClear: () => void;
}

/** The actions for the selected streams. Each asks once and says how many streams it is about, or names the only one. */
export function StreamSelection({ selected, onClear }: Props) {
  const [asking, setAsking] = useState<BulkAction | null>(null);
  const bulk = useBulkAction();
  const close = (): void => {
    setAsking(null);
    bulk.reset();
  };
  const [only] = selected.length === 1 ? selected : [];
  const what = only?.name ?? text.several(selected.length);
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
      {asking && (
        <ConfirmDialog
          opened
          title={text[asking].title(what)}
          body={text[asking].body}
          confirm={text[asking].confirm}
          harmless={asking === "unsuspend"}
          busy={bulk.isPending}
          error={bulk.error}
          onConfirm={() =>
            bulk.mutate(
              { action: asking, streams: selected },
              {
                onSuccess: () => {
                  toast(text[asking].done(what));
                  close();
                  onClear();
                },
              },
            )
          }
          onClose={close}
        />
      )}
    </>
  );
}
