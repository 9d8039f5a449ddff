import { Modal, PasswordInput } from "@mantine/core";
import { WeirError } from "@weir/client";
import type { Person } from "@weir/contract";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { strings } from "../../shared/strings.ts";
import { useSetPassword } from "./people-queries.ts";

const text = strings.account.people;

/** Characters; the server refuses shorter ones. */
export const SHORTEST_PASSWORD = 10;

interface Props {
  readonly person: Person;
  /** The signed-in user is this person, so the dialog asks for the current password. */
  readonly isSelf: boolean;
  readonly onClose: () => void;
}

export function PasswordDialog({ person, isSelf, onClose }: Props) {
  const [currentPassword, setCurrentPassword] = useState("");
  const [password, setPassword] = useState("");
  const set = useSetPassword(person.id);
  const isWrong = isSelf && set.error instanceof WeirError && set.error.status === 403;
  return (
    <Modal opened onClose={onClose} title={text.passwordTitle(person.name)}>
      <DialogForm
        submit={strings.actions.save}
        ready={password.length >= SHORTEST_PASSWORD && !(isSelf && currentPassword === "")}
        busy={set.isPending}
        error={isWrong ? null : set.error}
        onSubmit={() => set.mutate({ password, ...(isSelf && { currentPassword }) }, { onSuccess: onClose })}
        onCancel={onClose}
      >
        <p>{isSelf ? text.ownPasswordBody : text.passwordBody}</p>
        {/* The browser's password manager reads this field. */}
        <input type="text" autoComplete="username" value={person.name} readOnly hidden />
        {isSelf && (
          <PasswordInput
            label={text.currentPassword}
            error={isWrong && text.wrongPassword}
            autoComplete="current-password"
            value={currentPassword}
            onChange={(event) => setCurrentPassword(event.currentTarget.value)}
            data-autofocus
          />
        )}
        <PasswordInput
          label={text.newPassword}
          description={text.passwordHint}
          maxLength={200}
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          {...(!isSelf && { "data-autofocus": true })}
        />
      </DialogForm>
    </Modal>
  );
}
