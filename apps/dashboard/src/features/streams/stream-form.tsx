import { Button, Switch, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import dialog from "../../components/dialog.module.css";
import { Note } from "../../components/note.tsx";
import { strings } from "../../strings.ts";

const text = strings.streams.dialog;

interface Props {
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onSubmit: (stream: { name: string; record: boolean }) => void;
}

/** What a new stream needs: a name, and whether it is recorded. */
export function StreamForm({ busy, error, onSubmit }: Props) {
  const [name, setName] = useState("");
  const [record, setRecord] = useState(true);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit({ name: name.trim(), record });
  };
  return (
    <form className={dialog.body} onSubmit={submit}>
      <TextInput
        label={text.name}
        description={text.nameHint}
        placeholder={text.placeholder}
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Switch
        label={text.record}
        description={text.recordHint}
        checked={record}
        onChange={(event) => setRecord(event.currentTarget.checked)}
      />
      {error && <Note tone="failure">{error.message}</Note>}
      <div className={dialog.actions}>
        <Button type="submit" loading={busy} disabled={name.trim() === ""}>
          {text.submit}
        </Button>
      </div>
    </form>
  );
}
