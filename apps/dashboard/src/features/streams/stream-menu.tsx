import { Menu } from "@mantine/core";
import "@mantine/core/styles/Popover.css";
import "@mantine/core/styles/Menu.css";
import { Link } from "@tanstack/react-router";
import type { Stream } from "@weir/contract";
import { useRef, useState } from "react";
import { ConfirmDialog } from "../../shared/components/confirm-dialog.tsx";
import { RenameDialog } from "../../shared/components/rename-button.tsx";
import { toast } from "../../shared/components/toasts.tsx";
import { strings } from "../../shared/strings.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { RowMenuButton } from "./row-menu-button.tsx";
import { type BulkAction, usePatchStream, useTerminateStream } from "./stream-queries.ts";

const text = strings.streams;

type Asked = BulkAction | "rename" | "terminate";

interface Props {
  readonly stream: Stream;
}

/** The menu of a stream's row, open at first, and the dialogs that it leads to. */
export function StreamMenu({ stream }: Props) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setAsked(null);
    opener.current?.focus();
  };
  const suspension = stream.suspended ? "unsuspend" : "suspend";
  return (
    <>
      <Menu defaultOpened position="bottom-end" shadow="md" transitionProps={{ duration: 0 }}>
        <Menu.Target>
          <RowMenuButton name={stream.name} ref={opener} />
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            renderRoot={(props) => (
              <Link to="/streams/$streamId" params={{ streamId: stream.id }} search={{ tab: "health" }} {...props} />
            )}
          >
            {text.menu.health}
          </Menu.Item>
          <Menu.Item
            renderRoot={(props) => (
              <Link to="/streams/$streamId" params={{ streamId: stream.id }} search={{ tab: "sessions" }} {...props} />
            )}
          >
            {text.menu.sessions}
          </Menu.Item>
          <Menu.Item onClick={() => setAsked("rename")}>{text.overview.rename}…</Menu.Item>
          <Menu.Divider />
          {stream.isActive && <Menu.Item onClick={() => setAsked("terminate")}>{text.page.terminate}…</Menu.Item>}
          <Menu.Item onClick={() => setAsked(suspension)}>{text.selection[suspension].confirm}…</Menu.Item>
          <Menu.Item c="var(--w-failure)" onClick={() => setAsked("delete")}>
            {text.page.delete}…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked && <Asking asked={asked} stream={stream} onClose={close} />}
    </>
  );
}

interface AskingProps extends Props {
  readonly asked: Asked;
  readonly onClose: () => void;
}

function Asking({ asked, stream, onClose }: AskingProps) {
  if (asked === "rename") return <Renaming stream={stream} onClose={onClose} />;
  if (asked === "terminate") return <Terminating stream={stream} onClose={onClose} />;
  return <BulkDialog action={asked} streams={[stream]} onClose={onClose} />;
}

function Renaming({ stream, onClose }: Omit<AskingProps, "asked">) {
  const patch = usePatchStream(stream.id);
  const done = (): void => {
    toast(text.dialog.renamed);
    onClose();
  };
  return (
    <RenameDialog
      name={stream.name}
      text={{ title: text.dialog.rename, name: text.dialog.name }}
      change={patch}
      onRename={(name) => patch.mutate({ name }, { onSuccess: done })}
      code={(name) => (weir) => weir.streams.patch(stream.id, { name })}
      onClose={onClose}
    />
  );
}

function Terminating({ stream, onClose }: Omit<AskingProps, "asked">) {
  const terminate = useTerminateStream(stream.id);
  const ask = text.page.terminateAsk;
  return (
    <ConfirmDialog
      opened
      title={ask.title(stream.name)}
      body={ask.body}
      confirm={ask.confirm}
      busy={terminate.isPending}
      error={terminate.error}
      onConfirm={() => terminate.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
