import { Button, NativeSelect } from "@mantine/core";
import type { Webhook } from "@weir/contract";
import { useState } from "react";
import { Note } from "../../shared/components/note.tsx";
import { ShowAsCode } from "../../shared/components/show-as-code.tsx";
import { strings } from "../../shared/strings.ts";
import { outcomeText } from "./delivery-text.ts";
import { isSent } from "./webhook-draft.ts";
import { useTestWebhook } from "./webhook-queries.ts";
import classes from "./webhook-registration.module.css";

const text = strings.webhooks.page;

/** Sends an example of an event now, and says how it went. */
export function WebhookTest({ webhook }: { readonly webhook: Webhook }) {
  const test = useTestWebhook(webhook.id);
  const [event, setEvent] = useState(webhook.events.find(isSent));
  return (
    <>
      <div className={classes.test}>
        <NativeSelect
          aria-label={text.testEvent}
          value={event ?? ""}
          data={webhook.events.filter(isSent)}
          onChange={(change) => setEvent(webhook.events.find((it) => it === change.currentTarget.value))}
        />
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate(event)}>
          {text.test}
        </Button>
      </div>
      <ShowAsCode call={(weir) => weir.webhooks.test(webhook.id, event && { event })} />
      <div className={classes.outcome}>
        {test.error && <Note tone="failure">{test.error.message}</Note>}
        {test.data && (
          <Note tone={test.data.success ? "quiet" : "failure"} onDismiss={test.reset}>
            {test.data.success ? text.testWorked(outcomeText(test.data)) : text.testFailed(outcomeText(test.data))}
          </Note>
        )}
      </div>
    </>
  );
}
