import { Button, NativeSelect } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import type { Webhook } from "@weir/contract";
import { useState } from "react";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { DialogButton } from "../../components/dialog-button.tsx";
import { Note } from "../../components/note.tsx";
import { toast } from "../../components/toasts.tsx";
import { strings } from "../../strings.ts";
import { outcomeText } from "./delivery-text.ts";
import { EditWebhookDialog } from "./edit-webhook-dialog.tsx";
import { ReplayDialog } from "./replay-dialog.tsx";
import { isSent } from "./webhook-draft.ts";
import classes from "./webhook-page.module.css";
import { useDeleteWebhook, usePatchWebhook, useTestWebhook } from "./webhook-queries.ts";

const text = strings.webhooks.page;

export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const test = useTestWebhook(webhook.id);
  const patch = usePatchWebhook(webhook.id);
  const remove = useDeleteWebhook(webhook.id);
  const navigate = useNavigate();
  const [event, setEvent] = useState(webhook.events.find(isSent));
  const isPaused = webhook.status.pausedAt !== undefined;
  return (
    <>
      <div className={classes.actions}>
        <NativeSelect
          aria-label={text.testEvent}
          value={event ?? ""}
          data={webhook.events.filter(isSent)}
          onChange={(change) => setEvent(webhook.events.find((it) => it === change.currentTarget.value))}
        />
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate(event)}>
          {text.test}
        </Button>
        <Button variant="default" loading={patch.isPending} onClick={() => patch.mutate({ paused: !isPaused })}>
          {isPaused ? text.resume : text.pause}
        </Button>
        <DialogButton
          variant="default"
          label={text.replay}
          dialog={(close) => <ReplayDialog webhookId={webhook.id} onClose={close} />}
        />
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
      {(test.error ?? patch.error) && <Note tone="failure">{(test.error ?? patch.error)?.message}</Note>}
      {test.data && (
        <Note tone={test.data.success ? "quiet" : "failure"} onDismiss={test.reset}>
          {test.data.success ? text.testWorked(outcomeText(test.data)) : text.testFailed(outcomeText(test.data))}
        </Note>
      )}
    </>
  );
}
