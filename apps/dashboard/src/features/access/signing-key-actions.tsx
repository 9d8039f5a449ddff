import type { SigningKey } from "@weir/contract";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { RenameButton } from "../../shared/components/rename-button.tsx";
import { strings } from "../../shared/strings.ts";
import page from "./keys.module.css";
import { useDeleteSigningKey, usePatchSigningKey } from "./signing-key-queries.ts";

const text = strings.access.signingKeys;

export function SigningKeyActions({ signingKey: { id, name, disabled } }: { readonly signingKey: SigningKey }) {
  const rename = usePatchSigningKey(id);
  const turn = usePatchSigningKey(id);
  const remove = useDeleteSigningKey(id);
  return (
    <div className={page.actions}>
      <RenameButton
        size="compact-sm"
        label={text.rename}
        name={name}
        text={{ title: text.renameTitle, name: text.name, hint: text.nameHint }}
        change={rename}
        onRename={(wanted, close) => rename.mutate({ name: wanted }, { onSuccess: close })}
        code={(wanted) => (weir) => weir.signingKeys.patch(id, { name: wanted })}
      />
      <ConfirmButton
        size="compact-sm"
        label={disabled ? text.enable : text.disable}
        ask={disabled ? text.enableAsk : text.disableAsk}
        name={name}
        harmless={disabled}
        change={turn}
        onConfirm={(close) => turn.mutate({ disabled: !disabled }, { onSuccess: close })}
      />
      <ConfirmButton
        size="compact-sm"
        label={text.delete}
        ask={text.deleteAsk}
        name={name}
        change={remove}
        onConfirm={(close) => remove.mutate(undefined, { onSuccess: close })}
      />
    </div>
  );
}
