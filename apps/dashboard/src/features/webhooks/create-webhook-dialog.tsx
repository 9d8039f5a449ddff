import { Modal } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { strings } from "../../shared/strings.ts";
import { EMPTY_DRAFT, newWebhookOf } from "./webhook-draft.ts";
import { WebhookForm } from "./webhook-form.tsx";
import { useCreateWebhook } from "./webhook-queries.ts";

const text = strings.webhooks.form;

/** Creates a webhook and goes to its page. */
export function CreateWebhookDialog({ onClose }: { readonly onClose: () => void }) {
  const create = useCreateWebhook();
  const navigate = useNavigate();
  return (
    <Modal opened size="lg" onClose={onClose} title={text.createTitle}>
      <WebhookForm
        initial={EMPTY_DRAFT}
        hasSecret={false}
        submit={text.submit}
        busy={create.isPending}
        error={create.error}
        code={(draft) => (weir) => weir.webhooks.create(newWebhookOf(draft))}
        onSubmit={(draft) =>
          create.mutate(newWebhookOf(draft), {
            onSuccess: ({ id }) => navigate({ to: "/webhooks/$webhookId", params: { webhookId: id } }),
          })
        }
      />
    </Modal>
  );
}
