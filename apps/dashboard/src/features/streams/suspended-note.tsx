import type { Stream } from "@weir/contract";
import { Note } from "../../shared/components/note.tsx";
import { strings } from "../../shared/strings.ts";
import { SuspendButton } from "./stream-actions.tsx";
import classes from "./suspended-note.module.css";

const text = strings.streams.page.suspended;

/** Says that a stream is suspended, and lifts the suspension. Nothing for any other stream. */
export function SuspendedNote({ stream }: { readonly stream: Stream }) {
  if (!stream.suspended) return null;
  return (
    <div className={classes.suspended}>
      <Note tone="warning" title={text.title}>
        {text.body}
      </Note>
      <SuspendButton stream={stream} />
    </div>
  );
}
