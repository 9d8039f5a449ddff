import { Link } from "@tanstack/react-router";
import type { Webhook } from "@weir/contract";
import { LastMoment } from "../../shared/components/moment.tsx";
import classes from "../../shared/components/table.module.css";
import { TableOrCards } from "../../shared/components/table-or-cards.tsx";
import { strings } from "../../shared/strings.ts";
import { SENT_EVENTS } from "./webhook-draft.ts";
import page from "./webhook-list.module.css";
import { WebhookState } from "./webhook-state.tsx";

const text = strings.webhooks;

export function WebhookList({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  return (
    <TableOrCards
      items={webhooks}
      columns={[
        {
          name: text.columns.name,
          cell: (webhook) => (
            <>
              <Name webhook={webhook} />
              <p className={`quiet ${page.address}`}>{webhook.url}</p>
            </>
          ),
        },
        { name: text.columns.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
        { name: text.columns.events, className: page.address, cell: eventsText },
        { name: text.columns.lastCall, cell: ({ status }) => <LastMoment at={status.lastTriggeredAt} /> },
      ]}
      card={(webhook) => (
        <>
          <div className={classes.cardHead}>
            <Name webhook={webhook} />
            <WebhookState webhook={webhook} />
          </div>
          <p className={`quiet ${page.address}`}>{webhook.url}</p>
          <div className={classes.cardLine}>
            <span className={page.address}>{eventsText(webhook)}</span>
            <span className="quiet">
              {text.columns.lastCall}: <LastMoment at={webhook.status.lastTriggeredAt} />
            </span>
          </div>
        </>
      )}
    />
  );
}

function Name({ webhook: { id, name } }: { readonly webhook: Webhook }) {
  return (
    <Link to="/webhooks/$webhookId" params={{ webhookId: id }} className={classes.name}>
      {name}
    </Link>
  );
}

/** Up to three by name; of more, how many. */
export function eventsText({ events }: Webhook): string {
  if (SENT_EVENTS.every((event) => events.includes(event))) return text.allEvents;
  if (events.length > 3) return text.events(events.length);
  return events.join(", ") || strings.actions.none;
}
