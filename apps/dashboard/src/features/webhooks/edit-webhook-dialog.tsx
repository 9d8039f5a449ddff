import { Modal } from "@mantine/core";
import type { Webhook } from "@weir/contract";
import { strings } from "../../shared/strings.ts";
import { draftOf, patchOf } from "./webhook-draft.ts";
import { WebhookForm } from "./webhook-form.tsx";
import { usePatchWebhook } from "./webhook-queries.ts";

interface Props {
  readonly webhook: Webhook;
  readonly onClose: () => void;
}

export function EditWebhookDialog({ webhook, onClose }: Props) {
  const patch = usePatchWebhook(webhook.id);
  return (
    <Modal opened size="lg" onClose={onClose} title={strings.webhooks.form.editTitle(webhook.name)}>
      <WebhookForm
        initial={draftOf(webhook)}
        hasSecret={webhook.isSigned}
        submit={strings.actions.save}
        busy={patch.isPending}
        error={patch.error}
        code={(draft) => (weir) => weir.webhooks.patch(webhook.id, patchOf(webhook, draft))}
        onSubmit={(draft) => patch.mutate(patchOf(webhook, draft), { onSuccess: onClose })}
      />
    </Modal>
  );
}
