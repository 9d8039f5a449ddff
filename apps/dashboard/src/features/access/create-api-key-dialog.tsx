import { NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { masked, ValueField } from "../../shared/components/value-field.tsx";
import { parseOrigins } from "../../shared/lib/origins.ts";
import { strings } from "../../shared/strings.ts";
import { accessOf, KINDS, type Kind } from "./api-key-access.ts";
import { useCreateApiKey } from "./api-key-queries.ts";
import { ApiKeySample } from "./api-key-sample.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";

const text = strings.access.apiKeys.dialog;

export function CreateApiKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateApiKey();
  const created = create.data && {
    title: text.created(create.data.name),
    once: text.once,
    fields: (
      <>
        <ValueField label={text.key} value={create.data.key} concealed={masked(create.data.key)} />
        <ApiKeySample apiKey={create.data.key} />
      </>
    ),
    done: text.done,
  };
  return <NewKeyDialog title={text.title} form={<ApiKeyForm create={create} />} created={created} onClose={onClose} />;
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
