import type { ButtonProps } from "@mantine/core";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DialogButton } from "./dialog-button.tsx";

interface Props extends Pick<ButtonProps, "size"> {
  readonly label: string;
  readonly ask: { readonly title: (name: string) => string; readonly body: string; readonly confirm: string };
  /** The thing that the question names. */
  readonly name: string;
  readonly harmless?: boolean;
  readonly change: { readonly isPending: boolean; readonly error: Error | null; readonly reset: () => void };
  readonly onConfirm: (close: () => void) => void;
}

/** A button for a change that others will notice. It asks once. */
export function ConfirmButton({ label, ask, name, harmless = false, change, onConfirm, ...button }: Props) {
  return (
    <DialogButton
      {...button}
      variant="default"
      {...(!harmless && { c: "var(--w-failure)" })}
      label={label}
      onOpen={change.reset}
      dialog={(close) => (
        <ConfirmDialog
          opened
          title={ask.title(name)}
          body={ask.body}
          confirm={ask.confirm}
          harmless={harmless}
          busy={change.isPending}
          error={change.error}
          onConfirm={() => onConfirm(close)}
          onClose={close}
        />
      )}
    />
  );
}
