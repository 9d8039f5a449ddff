import { ActionIcon, Button, Menu } from "@mantine/core";
import { IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { strings } from "../../strings.ts";
import { RenameStreamDialog } from "./rename-stream-dialog.tsx";
import classes from "./stream-actions.module.css";
import { useDeleteStream, useTerminateStream } from "./stream-queries.ts";

const text = strings.streams.page;

/** What can be done to a stream; each thing that ends something asks once. */
export function StreamActions({ stream }: { readonly stream: Stream }) {
  const [dialog, setDialog] = useState<"terminate" | "delete" | "rename" | null>(null);
  const terminate = useTerminateStream(stream.id);
  const remove = useDeleteStream(stream.id);
  const navigate = useNavigate();
  const close = (): void => setDialog(null);
  return (
    <div className={classes.actions}>
      {stream.isActive && (
        <Button variant="default" onClick={() => setDialog("terminate")}>
          {text.terminate}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={strings.actions.more}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={() => setDialog("rename")}>
            {text.rename}
          </Menu.Item>
          <Menu.Item leftSection={<IconTrash size={16} aria-hidden />} onClick={() => setDialog("delete")}>
            {text.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        opened={dialog === "terminate"}
        title={text.terminateAsk.title(stream.name)}
        body={text.terminateAsk.body}
        confirm={text.terminateAsk.confirm}
        busy={terminate.isPending}
        error={terminate.error}
        onConfirm={() => terminate.mutate(undefined, { onSuccess: close })}
        onClose={close}
      />
      <ConfirmDialog
        opened={dialog === "delete"}
        title={text.deleteAsk.title(stream.name)}
        body={text.deleteAsk.body}
        confirm={text.deleteAsk.confirm}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate({ to: "/streams" }) })}
        onClose={close}
      />
      {dialog === "rename" && <RenameStreamDialog stream={stream} onClose={close} />}
    </div>
  );
}
