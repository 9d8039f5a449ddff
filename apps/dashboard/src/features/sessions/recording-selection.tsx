import { Button } from "@mantine/core";
import type { Session } from "@weir/contract";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { SelectionBar } from "../../shared/components/selection-bar.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { strings } from "../../shared/strings.ts";
import { useDeleteRecordings } from "./session-queries.ts";

const text = strings.sessions;

interface Props {
  readonly selected: readonly Session[];
  readonly onClear: () => void;
}

/** The actions for the selected recordings. */
export function RecordingSelection({ selected, onClear }: Props) {
  const remove = useDeleteRecordings();
  const what = text.recordings(selected.length);
  return (
    <SelectionBar label={text.selected} count={strings.streams.selection.count(selected.length)}>
      <ConfirmButton
        label={text.deleteRecording}
        ask={text.deleteAsk}
        name={what}
        change={remove}
        onConfirm={(close) =>
          remove.mutate(selected, {
            onSuccess: () => {
              close();
              onClear();
              toast(text.deleted(what));
            },
          })
        }
      />
      <Button variant="subtle" color="gray" onClick={onClear}>
        {strings.streams.selection.clear}
      </Button>
    </SelectionBar>
  );
}
