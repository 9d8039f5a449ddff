import { type ButtonProps, Modal, TextInput } from "@mantine/core";
import type { ClientCall } from "@weir/client/samples";
import { useState } from "react";
import { strings } from "../strings.ts";
import { DialogButton } from "./dialog-button.tsx";
import { DialogForm } from "./dialog-form.tsx";

interface DialogProps {
  readonly name: string;
  readonly text: { readonly title: (name: string) => string; readonly name: string; readonly hint?: string };
  readonly change: { readonly isPending: boolean; readonly error: Error | null; readonly reset: () => void };
  readonly onRename: (name: string, close: () => void) => void;
  /** The request, where an API key may send it too. */
  readonly code?: (name: string) => ClientCall;
}

type Props = DialogProps & Pick<ButtonProps, "size"> & { readonly label: string };

export function RenameButton({ label, size, ...props }: Props) {
  return (
    <DialogButton
      {...(size !== undefined && { size })}
      variant="default"
      label={label}
      onOpen={props.change.reset}
      dialog={(close) => <RenameDialog {...props} onClose={close} />}
    />
  );
}

export function RenameDialog({
  name,
  text,
  change,
  onRename,
  code,
  onClose,
}: DialogProps & { readonly onClose: () => void }) {
  const [typed, setTyped] = useState(name);
  return (
    <Modal opened onClose={onClose} title={text.title(name)}>
      <DialogForm
        submit={strings.actions.save}
        ready={typed.trim() !== ""}
        busy={change.isPending}
        error={change.error}
        onSubmit={() => onRename(typed.trim(), onClose)}
        onCancel={onClose}
        code={code?.(typed.trim())}
      >
        <TextInput
          label={text.name}
          description={text.hint}
          maxLength={200}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
      </DialogForm>
    </Modal>
  );
}
