import { Modal, PasswordInput, TextInput } from "@mantine/core";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { strings } from "../../shared/strings.ts";
import { SHORTEST_PASSWORD } from "./password-dialog.tsx";
import { useAddPerson } from "./people-queries.ts";

const text = strings.account.people;

export function AddPersonDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const add = useAddPerson();
  return (
    <Modal opened onClose={onClose} title={text.addTitle}>
      <DialogForm
        submit={text.add}
        ready={/^\S+$/.test(name.trim()) && password.length >= SHORTEST_PASSWORD}
        busy={add.isPending}
        error={add.error}
        onSubmit={() => add.mutate({ name: name.trim(), password }, { onSuccess: onClose })}
      >
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
      </DialogForm>
    </Modal>
  );
}
