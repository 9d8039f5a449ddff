import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { strings } from "../../strings.ts";
import { useDeleteStream, usePatchStream, useRotateStreamKey, useTerminateStream } from "./stream-queries.ts";

const text = strings.streams.page;

/** Ends the present broadcast; asks once. */
export function TerminateButton({ stream }: { readonly stream: Stream }) {
  const [isAsking, setAsking] = useState(false);
  const terminate = useTerminateStream(stream.id);
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {text.terminate}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        title={text.terminateAsk.title(stream.name)}
        body={text.terminateAsk.body}
        confirm={text.terminateAsk.confirm}
        busy={terminate.isPending}
        error={terminate.error}
        onConfirm={() => terminate.mutate(undefined, { onSuccess: () => setAsking(false) })}
        onClose={() => setAsking(false)}
      />
    </>
  );
}

/** Refuses publishers and viewers, or takes them again; asks once. */
export function SuspendButton({ stream }: { readonly stream: Stream }) {
  const [isAsking, setAsking] = useState(false);
  const patch = usePatchStream(stream.id);
  const ask = stream.suspended ? strings.streams.selection.unsuspend : strings.streams.selection.suspend;
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {ask.confirm}
      </Button>
      {isAsking && (
        <ConfirmDialog
          opened
          title={ask.title(stream.name)}
          body={ask.body}
          confirm={ask.confirm}
          harmless={stream.suspended}
          busy={patch.isPending}
          error={patch.error}
          onConfirm={() => patch.mutate({ suspended: !stream.suspended }, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Gives the stream a new key, for when somebody has the old one who should not; asks once. */
export function RotateKeyButton({ stream }: { readonly stream: Stream }) {
  const [isAsking, setAsking] = useState(false);
  const rotate = useRotateStreamKey(stream.id);
  const ask = strings.streams.guide.rotateAsk;
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {strings.streams.guide.rotate}
      </Button>
      {isAsking && (
        <ConfirmDialog
          opened
          title={ask.title(stream.name)}
          body={ask.body}
          confirm={ask.confirm}
          busy={rotate.isPending}
          error={rotate.error}
          onConfirm={() => rotate.mutate(undefined, { onSuccess: () => setAsking(false) })}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** Deletes the stream and goes back to the list; asks once. */
export function DeleteButton({ stream }: { readonly stream: Stream }) {
  const [isAsking, setAsking] = useState(false);
  const remove = useDeleteStream(stream.id);
  const navigate = useNavigate();
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {text.delete}
      </Button>
      <ConfirmDialog
        opened={isAsking}
        title={text.deleteAsk.title(stream.name)}
        body={text.deleteAsk.body}
        confirm={text.deleteAsk.confirm}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate({ to: "/streams" }) })}
        onClose={() => setAsking(false)}
      />
    </>
  );
}
