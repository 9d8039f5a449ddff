import type { Stream } from "@weir/contract";
import { ConfirmDialog } from "../../shared/components/confirm-dialog.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { strings } from "../../shared/strings.ts";
import { type BulkAction, useBulkAction } from "./stream-queries.ts";

const text = strings.streams.selection;

interface Props {
  readonly action: BulkAction;
  readonly streams: readonly Stream[];
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Asks once before one thing is done to several streams. It says how many they are, or names the only one. */
export function BulkDialog({ action, streams, onClose, onDone }: Props) {
  const bulk = useBulkAction();
  const [only] = streams.length === 1 ? streams : [];
  const what = only?.name ?? text.several(streams.length);
  const done = (): void => {
    toast(text[action].done(what));
    onClose();
    onDone?.();
  };
  return (
    <ConfirmDialog
      opened
      title={text[action].title(what)}
      body={text[action].body}
      confirm={text[action].confirm}
      harmless={action === "unsuspend"}
      busy={bulk.isPending}
      error={bulk.error}
      onConfirm={() => bulk.mutate({ action, streams }, { onSuccess: done })}
      onClose={onClose}
    />
  );
}
