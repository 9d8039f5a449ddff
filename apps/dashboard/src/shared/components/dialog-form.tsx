import { Button } from "@mantine/core";
import type { ClientCall } from "@weir/client/samples";
import type { ReactNode } from "react";
import { strings } from "../strings.ts";
import classes from "./dialog.module.css";
import { Note } from "./note.tsx";
import { ShowAsCode } from "./show-as-code.tsx";

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
  /** The request that the form sends, where an API key may send it too. Typed secrets have a word in their place. */
  readonly code?: ClientCall | undefined;
  readonly children: ReactNode;
}

/** Fields, what went wrong with them, and the button that sends them. */
export function DialogForm({ submit, ready, busy, error, onSubmit, onCancel, cancel, code, children }: Props) {
  return (
    <form
      className={classes.body}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {code && <ShowAsCode call={code} />}
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
