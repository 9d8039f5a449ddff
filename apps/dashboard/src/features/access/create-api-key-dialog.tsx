import { Button, Modal, NativeSelect, TextInput } from "@mantine/core";
import type { CreatedApiToken } from "@weir/contract";
import { useState } from "react";
import dialog from "../../components/dialog.module.css";
import { DialogForm } from "../../components/dialog-form.tsx";
import { Note } from "../../components/note.tsx";
import { ValueField } from "../../components/value-field.tsx";
import { parseOrigins } from "../../lib/origins.ts";
import { strings } from "../../strings.ts";
import { accessOf, KINDS, type Kind } from "./api-key-access.ts";
import { useCreateApiKey } from "./api-key-queries.ts";

const text = strings.access.apiKeys.dialog;

/** Two steps: what the key is for, then the key itself, once. A click beside the dialog does not close the second. */
export function CreateApiKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateApiKey();
  const created = create.data;
  return (
    <Modal
      opened
      onClose={onClose}
      title={created ? text.created(created.name) : text.title}
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
    >
      {created ? <NewKey created={created} onClose={onClose} /> : <ApiKeyForm create={create} />}
    </Modal>
  );
}

function ApiKeyForm({ create }: { readonly create: ReturnType<typeof useCreateApiKey> }) {
  const [name, setName] = useState("");
  const [kind, setKind] = useState<Kind>("full");
  const [typed, setTyped] = useState("");
  const { origins, wrong } = parseOrigins(typed);
  const submit = (): void => {
    const access = accessOf(kind, origins);
    create.mutate({ name: name.trim(), ...(access && { access }) });
  };
  return (
    <DialogForm
      submit={text.submit}
      ready={name.trim() !== "" && wrong === null && (kind !== "page" || origins.length > 0)}
      busy={create.isPending}
      error={create.error}
      onSubmit={submit}
    >
      <TextInput
        label={text.name}
        description={text.nameHint}
        placeholder={text.placeholder}
        maxLength={500}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <NativeSelect
        label={text.access}
        description={text.hints[kind]}
        value={kind}
        data={KINDS.map((value) => ({ value, label: strings.access.apiKeys.kinds[value] }))}
        onChange={(event) => setKind(event.currentTarget.value as Kind)}
      />
      <TextInput
        label={kind === "page" ? text.origins : text.originsOptional}
        description={text.originsHint}
        placeholder="https://app.example.com"
        error={wrong !== null && strings.access.wrongOrigin(wrong)}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
    </DialogForm>
  );
}

function NewKey({ created, onClose }: { readonly created: CreatedApiToken; readonly onClose: () => void }) {
  return (
    <div className={dialog.body}>
      <Note tone="warning">{text.once}</Note>
      <ValueField label={text.key} value={created.key} secret />
      <div className={dialog.actions}>
        <Button onClick={onClose} data-autofocus>
          {text.done}
        </Button>
      </div>
    </div>
  );
}
