import { useNavigate } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { RenameButton } from "../../shared/components/rename-button.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { strings } from "../../shared/strings.ts";
import { useDeleteStream, usePatchStream, useRotateStreamKey, useTerminateStream } from "./stream-queries.ts";

const text = strings.streams;

/** Says that it was done, then goes on. */
const said = (what: string, then: () => void) => (): void => {
  toast(what);
  then();
};

interface Props {
  readonly stream: Stream;
}

/** Ends the present broadcast; asks once. */
export function TerminateButton({ stream }: Props) {
  const terminate = useTerminateStream(stream.id);
  return (
    <ConfirmButton
      label={text.page.terminate}
      ask={text.page.terminateAsk}
      name={stream.name}
      change={terminate}
      onConfirm={(close) => terminate.mutate(undefined, { onSuccess: close })}
    />
  );
}

export function RenameStreamButton({ stream }: Props) {
  const patch = usePatchStream(stream.id);
  return (
    <RenameButton
      label={text.overview.rename}
      name={stream.name}
      text={{ title: text.dialog.rename, name: text.dialog.name }}
      change={patch}
      onRename={(name, close) => patch.mutate({ name }, { onSuccess: said(text.dialog.renamed, close) })}
      code={(name) => (weir) => weir.streams.patch(stream.id, { name })}
    />
  );
}

/** Refuses publishers and viewers, or takes them again; asks once. */
export function SuspendButton({ stream }: Props) {
  const patch = usePatchStream(stream.id);
  const ask = stream.suspended ? text.selection.unsuspend : text.selection.suspend;
  return (
    <ConfirmButton
      label={ask.confirm}
      ask={ask}
      name={stream.name}
      harmless={stream.suspended}
      change={patch}
      onConfirm={(close) =>
        patch.mutate({ suspended: !stream.suspended }, { onSuccess: said(ask.done(stream.name), close) })
      }
    />
  );
}

/** Replaces a stream key that leaked; asks once. */
export function RotateKeyButton({ stream }: Props) {
  const rotate = useRotateStreamKey(stream.id);
  return (
    <ConfirmButton
      label={text.guide.rotate}
      ask={text.guide.rotateAsk}
      name={stream.name}
      change={rotate}
      onConfirm={(close) => rotate.mutate(undefined, { onSuccess: said(text.guide.rotated, close) })}
    />
  );
}

/** Deletes the stream and goes back to the list; asks once. */
export function DeleteButton({ stream }: Props) {
  const remove = useDeleteStream(stream.id);
  const navigate = useNavigate();
  return (
    <ConfirmButton
      label={text.page.delete}
      ask={text.page.deleteAsk}
      name={stream.name}
      change={remove}
      onConfirm={() =>
        remove.mutate(undefined, { onSuccess: said(text.page.deleted, () => void navigate({ to: "/streams" })) })
      }
    />
  );
}
