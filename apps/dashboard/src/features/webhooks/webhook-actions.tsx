import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Webhook } from "@weir/contract";
import { ConfirmButton } from "../../shared/components/confirm-button.tsx";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { toast } from "../../shared/components/toasts.tsx";
import { strings } from "../../shared/strings.ts";
import { EditWebhookDialog } from "./edit-webhook-dialog.tsx";
import { useDeleteWebhook, usePatchWebhook } from "./webhook-queries.ts";

const text = strings.webhooks.page;

/** Pauses, edits and deletes a webhook. Resuming a paused one is what its page is mostly for. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const patch = usePatchWebhook(webhook.id);
  const remove = useDeleteWebhook(webhook.id);
  const navigate = useNavigate();
  const isPaused = webhook.status.pausedAt !== undefined;
  return (
    <div className={page.actions}>
      {patch.error && <Note tone="failure">{patch.error.message}</Note>}
      <Button
        variant={isPaused ? "filled" : "default"}
        loading={patch.isPending}
        onClick={() => patch.mutate({ paused: !isPaused })}
      >
        {isPaused ? text.resume : text.pause}
      </Button>
      <DialogButton
        variant="default"
        label={text.edit}
        dialog={(close) => <EditWebhookDialog webhook={webhook} onClose={close} />}
      />
      <ConfirmButton
        label={text.delete}
        ask={text.deleteAsk}
        name={webhook.name}
        change={remove}
        onConfirm={() =>
          remove.mutate(undefined, {
            onSuccess: () => {
              toast(text.deleted);
              navigate({ to: "/webhooks" });
            },
          })
        }
      />
    </div>
  );
}
