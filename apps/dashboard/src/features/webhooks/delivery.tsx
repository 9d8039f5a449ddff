import { Button } from "@mantine/core";
import { IconChevronRight } from "@tabler/icons-react";
import type { WebhookLog } from "@weir/contract";
import { useId, useState } from "react";
import { CodeBlock } from "../../shared/components/code-block.tsx";
import { Note } from "../../shared/components/note.tsx";
import { StateLabel } from "../../shared/components/state-label.tsx";
import { ValueField } from "../../shared/components/value-field.tsx";
import { absoluteMoment, clockMoment } from "../../shared/lib/moments.ts";
import { strings } from "../../shared/strings.ts";
import { type DeliveryGroup, isTest, nextAttemptAt } from "./delivery-groups.ts";
import classes from "./delivery-list.module.css";
import { outcomeText, outcomeTitle, readableBody, storedText } from "./delivery-text.ts";
import { useResend } from "./webhook-queries.ts";

const text = strings.webhooks.deliveries;

/** The latest attempt to deliver an event, on one line that opens to the request, the response and the earlier attempts. */
export function Delivery(group: DeliveryGroup) {
  const { latest: delivery, earlier } = group;
  const nextAt = nextAttemptAt(group, Date.now());
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <li>
      <button
        type="button"
        className={classes.line}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <IconChevronRight size={16} className={classes.chevron} aria-hidden />
        <time
          className="quiet"
          dateTime={new Date(delivery.createdAt).toISOString()}
          title={absoluteMoment(delivery.createdAt)}
        >
          {clockMoment(delivery.createdAt, Date.now())}
        </time>
        <span className={classes.event}>
          <code>{delivery.event}</code> {isTest(delivery) && <span className="quiet">{text.test}</span>}
        </span>
        <span className={classes.outcome}>
          <StateLabel tone={delivery.success ? "quiet" : "failure"}>{outcomeTitle(delivery)}</StateLabel>
          {nextAt !== null && <span className="quiet">{text.next(clockMoment(nextAt, Date.now()))}</span>}
        </span>
        <span className={`quiet ${classes.figure}`}>
          {delivery.attempt > 1 && `${text.attempt(delivery.attempt)} · `}
          {text.took((delivery.duration * 1000).toFixed(0))}
        </span>
      </button>
      <div id={id} hidden={!isOpen}>
        {isOpen && <DeliveryDetails delivery={delivery} />}
        {isOpen && earlier.length > 0 && (
          <ul className={classes.list} aria-label={text.earlier}>
            {earlier.map((attempt) => (
              <Delivery key={attempt.id} latest={attempt} earlier={[]} />
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}

function DeliveryDetails({ delivery }: { readonly delivery: WebhookLog }) {
  const { id, webhookId, request, response } = delivery;
  const resend = useResend(webhookId);
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <div className={classes.details}>
      <CodeBlock
        title={text.headers}
        code={[`${request.method} ${request.url}`, ...headers].join("\n")}
        what={text.headers.toLowerCase()}
      />
      <CodeBlock title={text.request} code={readableBody(request.body)} what={text.sentBody} />
      {response && (
        <CodeBlock
          title={`${text.response} ${outcomeText(delivery)}`}
          code={storedText(response.body) || text.emptyBody}
          what={text.answeredBody}
        />
      )}
      <ValueField label={text.logId} value={id} />
      {resend.error && <Note tone="failure">{resend.error.message}</Note>}
      {resend.data && <p role="status">{text.resent(outcomeText(resend.data))}</p>}
      <Button variant="default" loading={resend.isPending} onClick={() => resend.mutate(id)}>
        {text.resend}
      </Button>
    </div>
  );
}
