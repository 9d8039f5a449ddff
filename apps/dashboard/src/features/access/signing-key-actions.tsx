import { Button } from "@mantine/core";
import type { SigningKey } from "@weir/contract";
import { useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { strings } from "../../strings.ts";
import page from "./access-page.module.css";
import { RenameSigningKeyDialog } from "./rename-signing-key-dialog.tsx";
import { useDeleteSigningKey, usePatchSigningKey } from "./signing-key-queries.ts";

const text = strings.access.signingKeys;

interface Props {
  readonly signingKey: SigningKey;
}

export function SigningKeyActions({ signingKey }: Props) {
  const [asking, setAsking] = useState<"rename" | "switch" | "delete" | null>(null);
  const close = (): void => setAsking(null);
  return (
    <div className={page.actions}>
      <Button size="compact-sm" variant="default" onClick={() => setAsking("rename")}>
        {text.rename}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => setAsking("switch")}>
        {signingKey.disabled ? text.enable : text.disable}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => setAsking("delete")}>
        {text.delete}
      </Button>
      {asking === "rename" && <RenameSigningKeyDialog signingKey={signingKey} onClose={close} />}
      {asking === "switch" && <SwitchDialog signingKey={signingKey} onClose={close} />}
      {asking === "delete" && <DeleteDialog signingKey={signingKey} onClose={close} />}
    </div>
  );
}

type DialogProps = Props & { readonly onClose: () => void };

function SwitchDialog({ signingKey: { id, name, disabled }, onClose }: DialogProps) {
  const patch = usePatchSigningKey(id);
  const ask = disabled ? text.enableAsk : text.disableAsk;
  return (
    <ConfirmDialog
      opened
      title={ask.title(name)}
      body={ask.body}
      confirm={ask.confirm}
      harmless={disabled}
      busy={patch.isPending}
      error={patch.error}
      onConfirm={() => patch.mutate({ disabled: !disabled }, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ signingKey: { id, name }, onClose }: DialogProps) {
  const remove = useDeleteSigningKey(id);
  return (
    <ConfirmDialog
      opened
      title={text.deleteAsk.title(name)}
      body={text.deleteAsk.body}
      confirm={text.deleteAsk.confirm}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}
