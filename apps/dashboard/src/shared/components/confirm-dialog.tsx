import { Button, Modal } from "@mantine/core";
import { strings } from "../strings.ts";
import classes from "./dialog.module.css";
import { Note } from "./note.tsx";

interface Props {
  readonly opened: boolean;
  readonly title: string;
  readonly body: string;
  readonly confirm: string;
  /** The user can take it back, so the button is not red. */
  readonly harmless?: boolean;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** A dialog that asks once before a change that others will notice. Its title names the thing. */
export function ConfirmDialog({
  opened,
  title,
  body,
  confirm,
  harmless = false,
  busy,
  error,
  onConfirm,
  onClose,
}: Props) {
  return (
    <Modal opened={opened} onClose={onClose} title={title}>
      <div className={classes.body}>
        <p>{body}</p>
        {error && <Note tone="failure">{error.message}</Note>}
        <div className={classes.actions}>
          <Button variant="default" onClick={onClose} data-autofocus>
            {strings.actions.cancel}
          </Button>
          <Button {...(harmless ? {} : { color: "red.9" })} loading={busy} onClick={onConfirm}>
            {confirm}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
