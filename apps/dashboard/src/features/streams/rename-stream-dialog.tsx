import { Button, Modal, TextInput } from "@mantine/core";
import type { Stream } from "@weir/contract";
import { type FormEvent, useState } from "react";
import dialog from "../../components/dialog.module.css";
import { Note } from "../../components/note.tsx";
import { strings } from "../../strings.ts";
import { usePatchStream } from "./stream-queries.ts";

const text = strings.streams.dialog;

export function RenameStreamDialog({ stream, onClose }: { readonly stream: Stream; readonly onClose: () => void }) {
  const [name, setName] = useState(stream.name);
  const patch = usePatchStream(stream.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    patch.mutate({ name: name.trim() }, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title={text.rename(stream.name)}>
      <form className={dialog.body} onSubmit={submit}>
        <TextInput
          label={text.name}
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        {patch.error && <Note tone="failure">{patch.error.message}</Note>}
        <div className={dialog.actions}>
          <Button variant="default" onClick={onClose}>
            {strings.actions.cancel}
          </Button>
          <Button type="submit" loading={patch.isPending} disabled={name.trim() === ""}>
            {strings.actions.save}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
