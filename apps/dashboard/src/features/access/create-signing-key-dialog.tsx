import { Button, TextInput } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type { CreatedSigningKey } from "@weir/contract";
import { useState } from "react";
import { DialogForm } from "../../shared/components/dialog-form.tsx";
import { masked, ValueField } from "../../shared/components/value-field.tsx";
import { downloadText } from "../../shared/lib/download.ts";
import { strings } from "../../shared/strings.ts";
import { NewKeyDialog } from "./new-key-dialog.tsx";
import { useCreateSigningKey } from "./signing-key-queries.ts";

const text = strings.access.signingKeys;

export function CreateSigningKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateSigningKey();
  return (
    <NewKeyDialog
      title={text.dialog.title}
      form={<SigningKeyForm create={create} />}
      created={create.data && shown(create.data)}
      onClose={onClose}
    />
  );
}

function SigningKeyForm({ create }: { readonly create: ReturnType<typeof useCreateSigningKey> }) {
  const [name, setName] = useState("");
  return (
    <DialogForm
      submit={text.dialog.submit}
      ready={name.trim() !== ""}
      busy={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate(name.trim())}
      code={(weir) => weir.signingKeys.create({ name: name.trim() })}
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
    </DialogForm>
  );
}

function shown({ name, privateKey, publicKey }: CreatedSigningKey) {
  return {
    title: text.dialog.created(name),
    once: text.dialog.once,
    fields: (
      <>
        <ValueField label={text.dialog.privateKey} value={privateKey} concealed={masked(privateKey)} />
        <ValueField label={text.dialog.publicKey} value={publicKey} />
        <p className="quiet">{text.dialog.sampleHint}</p>
      </>
    ),
    keep: (
      <Button
        variant="default"
        leftSection={<IconDownload size={16} aria-hidden />}
        onClick={() => downloadText(`${name}.pem`, atob(privateKey))}
      >
        {text.dialog.download}
      </Button>
    ),
    done: text.dialog.done,
  };
}
