import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { strings } from "../strings.ts";
import classes from "./dialog.module.css";
import { Note } from "./note.tsx";

interface Props {
  readonly submit: string;
  /** The values in the form are complete, so the form can be sent. */
  readonly ready: boolean;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onSubmit: () => void;
  /** A form with this callback has a *Cancel* button. */
  readonly onCancel?: () => void;
  readonly cancel?: string;
  readonly children: ReactNode;
}

/** Fields, what went wrong with them, and the button that sends them. */
export function DialogForm({ submit, ready, busy, error, onSubmit, onCancel, cancel, children }: Props) {
  return (
    <form
      className={classes.body}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error && <Note tone="failure">{error.message}</Note>}
      <div className={classes.actions}>
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            {cancel ?? strings.actions.cancel}
          </Button>
        )}
        <Button type="submit" loading={busy} disabled={!ready}>
          {submit}
        </Button>
      </div>
    </form>
  );
}
