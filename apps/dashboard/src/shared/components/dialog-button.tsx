import { Button, type ButtonProps } from "@mantine/core";
import { type ReactNode, Suspense, useRef, useState } from "react";

interface Props extends ButtonProps {
  readonly label: string;
  readonly title?: string | undefined;
  readonly onOpen?: () => void;
  readonly dialog: (close: () => void) => ReactNode;
}

/** A button that opens a dialog, and has the focus again when the dialog closes. The dialog's code may be loaded by then. */
export function DialogButton({ label, onOpen, dialog, ...button }: Props) {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const open = (): void => {
    onOpen?.();
    setOpen(true);
  };
  const close = (): void => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    <>
      <Button {...button} ref={opener} onClick={open}>
        {label}
      </Button>
      <Suspense>{isOpen && dialog(close)}</Suspense>
    </>
  );
}
