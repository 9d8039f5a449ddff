import { Button, Modal } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { type FormEvent, useState } from "react";
import dialog from "../../components/dialog.module.css";
import { Note } from "../../components/note.tsx";
import { strings } from "../../strings.ts";
import { isValid, ladderOf, wantedProfiles } from "./ladder.ts";
import { LadderEditor } from "./ladder-editor.tsx";
import { usePatchStream } from "./stream-queries.ts";

/** Changes which qualities a stream is offered in, from its next session on. */
export function LadderDialog({ stream, onClose }: { readonly stream: Stream; readonly onClose: () => void }) {
  const [ladder, setLadder] = useState(() => ladderOf(stream.profiles));
  const patch = usePatchStream(stream.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    patch.mutate({ profiles: wantedProfiles(ladder) }, { onSuccess: onClose });
  };
  return (
    <Modal opened size="lg" onClose={onClose} title={strings.streams.ladder.change(stream.name)}>
      <form className={dialog.body} onSubmit={submit}>
        <LadderEditor ladder={ladder} onLadder={setLadder} />
        {patch.error && <Note tone="failure">{patch.error.message}</Note>}
        <div className={dialog.actions}>
          <Button variant="default" onClick={onClose}>
            {strings.actions.cancel}
          </Button>
          <Button type="submit" loading={patch.isPending} disabled={!isValid(ladder)}>
            {strings.actions.save}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
