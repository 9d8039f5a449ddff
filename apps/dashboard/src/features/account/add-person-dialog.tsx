import { Button, Modal, PasswordInput, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import dialog from "../../components/dialog.module.css";
import { Note } from "../../components/note.tsx";
import { strings } from "../../strings.ts";
import { SHORTEST_PASSWORD } from "./password-dialog.tsx";
import { useAddPerson } from "./people-queries.ts";

const text = strings.account.people;

export function AddPersonDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const add = useAddPerson();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    add.mutate({ name: name.trim(), password }, { onSuccess: onClose });
  };
  return (
    <Modal opened onClose={onClose} title={text.addTitle}>
      <form className={dialog.body} onSubmit={submit}>
        <p>{text.addHint}</p>
        <TextInput
          label={text.name}
          description={text.nameHint}
          maxLength={254}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <PasswordInput
          label={text.password}
          description={text.passwordHint}
          maxLength={200}
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {add.error && <Note tone="failure">{add.error.message}</Note>}
        <div className={dialog.actions}>
          <Button
            type="submit"
            loading={add.isPending}
            disabled={!/^\S+$/.test(name.trim()) || password.length < SHORTEST_PASSWORD}
          >
            {text.add}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
