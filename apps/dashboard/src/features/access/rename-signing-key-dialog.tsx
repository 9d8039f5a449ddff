import { Button, Modal, TextInput } from "@mantine/core";
import type { SigningKey } from "@weir/contract";
import { type FormEvent, useState } from "react";
import dialog from "../../components/dialog.module.css";
import { Note } from "../../components/note.tsx";
import { strings } from "../../strings.ts";
import { usePatchSigningKey } from "./signing-key-queries.ts";

const text = strings.access.signingKeys;

interface Props {
  readonly signingKey: SigningKey;
  readonly onClose: () => void;
}

export function RenameSigningKeyDialog({ signingKey, onClose }: Props) {
  const [name, setName] = useState(signingKey.name);
  const patch = usePatchSigningKey(signingKey.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    patch.mutate({ name: name.trim() }, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title={text.renameTitle(signingKey.name)}>
      <form className={dialog.body} onSubmit={submit}>
        <TextInput
          label={text.name}
          description={text.nameHint}
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
