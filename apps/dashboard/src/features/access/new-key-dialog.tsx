import { Button, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import dialog from "../../shared/components/dialog.module.css";
import { Note } from "../../shared/components/note.tsx";

interface CreatedKey {
  readonly title: string;
  /** A warning that Weir shows the key only once. */
  readonly once: string;
  readonly fields: ReactNode;
  /** A way to keep the key besides copying it. */
  readonly keep?: ReactNode;
  readonly done: string;
}

interface Props {
  readonly title: string;
  readonly form: ReactNode;
  readonly created: CreatedKey | undefined;
  readonly onClose: () => void;
}

/** A dialog with two steps: the form, then the key, shown once. Only its button closes the second step. */
export function NewKeyDialog({ title, form, created, onClose }: Props) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={created ? created.title : title}
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
    >
      {created ? (
        <div className={dialog.body}>
          <Note tone="warning">{created.once}</Note>
          {created.fields}
          <div className={dialog.actions}>
            {created.keep}
            <Button onClick={onClose} data-autofocus>
              {created.done}
            </Button>
          </div>
        </div>
      ) : (
        form
      )}
    </Modal>
  );
}
