import { Switch, TextInput } from "@mantine/core";
import type { NewStream } from "@weir/contract";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { strings } from "../../shared/strings.ts";
import { isValid, NEW_LADDER, wantedProfiles } from "./ladder.ts";
import { LadderEditor } from "./ladder-editor.tsx";

const text = strings.streams.dialog;

interface Props {
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onSubmit: (stream: NewStream) => void;
}

/** The fields of a new stream: its name, whether it is recorded, and its renditions. */
export function StreamForm({ busy, error, onSubmit }: Props) {
  const [name, setName] = useState("");
  const [record, setRecord] = useState(true);
  const [ladder, setLadder] = useState(NEW_LADDER);
  const wanted = { name: name.trim(), record, profiles: wantedProfiles(ladder) };
  return (
    <DialogForm
      submit={text.submit}
      ready={name.trim() !== "" && isValid(ladder)}
      busy={busy}
      error={error}
      onSubmit={() => onSubmit(wanted)}
      code={(weir) => weir.streams.create(wanted)}
    >
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
      <LadderEditor ladder={ladder} onLadder={setLadder} />
    </DialogForm>
  );
}
