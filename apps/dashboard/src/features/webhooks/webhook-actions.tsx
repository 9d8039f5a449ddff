import { Button } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Webhook } from "@weir/contract";
import { useState } from "react";
import { ConfirmDialog } from "../../components/confirm-dialog.tsx";
import { Note } from "../../components/note.tsx";
import { strings } from "../../strings.ts";
import { outcomeText } from "./delivery-text.ts";
import { EditWebhookDialog } from "./edit-webhook-dialog.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import classes from "./webhook-page.module.css";
import { useDeleteWebhook, usePatchWebhook, useTestWebhook } from "./webhook-queries.ts";

const text = strings.webhooks.page;

export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const [asking, setAsking] = useState<"edit" | "replay" | "delete" | null>(null);
  const test = useTestWebhook(webhook.id);
  const patch = usePatchWebhook(webhook.id);
  const isPaused = webhook.status.pausedAt !== undefined;
  const close = (): void => setAsking(null);
  return (
    <>
      <div className={classes.actions}>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate(undefined)}>
          {text.test}
        </Button>
        <Button variant="default" loading={patch.isPending} onClick={() => patch.mutate({ paused: !isPaused })}>
          {isPaused ? text.resume : text.pause}
        </Button>
        <Button variant="default" onClick={() => setAsking("replay")}>
          {text.replay}
        </Button>
        <Button variant="default" onClick={() => setAsking("edit")}>
          {text.edit}
        </Button>
        <Button variant="default" onClick={() => setAsking("delete")}>
          {text.delete}
        </Button>
      </div>
      {(test.error ?? patch.error) && <Note tone="failure">{(test.error ?? patch.error)?.message}</Note>}
      {test.data && (
        <Note tone={test.data.success ? "quiet" : "failure"} onDismiss={test.reset}>
          {test.data.success ? text.testWorked(outcomeText(test.data)) : text.testFailed(outcomeText(test.data))}
        </Note>
      )}
      {asking === "edit" && <EditWebhookDialog webhook={webhook} onClose={close} />}
      {asking === "replay" && <ReplayDialog webhookId={webhook.id} onClose={close} />}
      {asking === "delete" && <DeleteDialog webhook={webhook} onClose={close} />}
    </>
  );
}

function DeleteDialog({ webhook, onClose }: { readonly webhook: Webhook; readonly onClose: () => void }) {
  const remove = useDeleteWebhook(webhook.id);
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      opened
      title={text.deleteAsk.title(webhook.name)}
      body={text.deleteAsk.body}
      confirm={text.deleteAsk.confirm}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate({ to: "/webhooks" }) })}
      onClose={onClose}
    />
  );
}
