import { Button, Modal, PasswordInput } from "@mantine/core";
import { WeirError } from "@weir/client";
import type { Person } from "@weir/contract";
import { type FormEvent, useState } from "react";
import dialog from "../../components/dialog.module.css";
import { Note } from "../../components/note.tsx";
import { strings } from "../../strings.ts";
import { useSetPassword } from "./people-queries.ts";

const text = strings.account.people;

/** Characters; the server refuses shorter ones. */
export const SHORTEST_PASSWORD = 10;

interface Props {
  readonly person: Person;
  /** Is signed in as this person: then the present password is asked for. */
  readonly isSelf: boolean;
  readonly onClose: () => void;
}

export function PasswordDialog({ person, isSelf, onClose }: Props) {
  const [currentPassword, setCurrentPassword] = useState("");
  const [password, setPassword] = useState("");
  const set = useSetPassword(person.id);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.mutate({ password, ...(isSelf && { currentPassword }) }, { onSuccess: onClose });
  };
  const isWrong = set.error instanceof WeirError && set.error.status === 403;
  return (
    <Modal opened onClose={onClose} title={text.passwordTitle(person.name)}>
      <form className={dialog.body} onSubmit={submit}>
        <p>{isSelf ? text.ownPasswordBody : text.passwordBody}</p>
        {/* For the browser's own keeper of passwords. */}
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
        {set.error && !(isSelf && isWrong) && <Note tone="failure">{set.error.message}</Note>}
        <div className={dialog.actions}>
          <Button variant="default" onClick={onClose}>
            {strings.actions.cancel}
          </Button>
          <Button
            type="submit"
            loading={set.isPending}
            disabled={password.length < SHORTEST_PASSWORD || (isSelf && currentPassword === "")}
          >
            {strings.actions.save}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
