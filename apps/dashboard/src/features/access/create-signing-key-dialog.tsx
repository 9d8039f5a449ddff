import { Button, Modal, TextInput } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type { CreatedSigningKey } from "@weir/contract";
import { useState } from "react";
import dialog from "../../components/dialog.module.css";
import { DialogForm } from "../../components/dialog-form.tsx";
import { Note } from "../../components/note.tsx";
import { ValueField } from "../../components/value-field.tsx";
import { downloadText } from "../../lib/download.ts";
import { strings } from "../../strings.ts";
import { useCreateSigningKey } from "./signing-key-queries.ts";

const text = strings.access.signingKeys;

/** Two steps: a name, then the two halves, the private one once. Only its own button closes the second. */
export function CreateSigningKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateSigningKey();
  const created = create.data;
  return (
    <Modal
      opened
      onClose={onClose}
      title={created ? text.dialog.created(created.name) : text.dialog.title}
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
    >
      {created ? <NewKey created={created} onClose={onClose} /> : <SigningKeyForm create={create} />}
    </Modal>
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

function NewKey({ created, onClose }: { readonly created: CreatedSigningKey; readonly onClose: () => void }) {
  return (
    <div className={dialog.body}>
      <Note tone="warning">{text.dialog.once}</Note>
      <ValueField label={text.dialog.privateKey} value={created.privateKey} secret />
      <ValueField label={text.dialog.publicKey} value={created.publicKey} />
      <p className="quiet">{text.dialog.sampleHint}</p>
      <div className={dialog.actions}>
        <Button
          variant="default"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => downloadText(`${created.name}.pem`, atob(created.privateKey))}
        >
          {text.dialog.download}
        </Button>
        <Button onClick={onClose} data-autofocus>
          {text.dialog.done}
        </Button>
      </div>
    </div>
  );
}
