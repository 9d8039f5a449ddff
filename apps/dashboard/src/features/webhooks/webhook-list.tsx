import { useMediaQuery } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { WEBHOOK_EVENTS, type Webhook } from "@weir/contract";
import { Moment } from "../../components/moment.tsx";
import classes from "../../components/table.module.css";
import { strings } from "../../strings.ts";
import { WebhookState } from "./webhook-state.tsx";
import page from "./webhooks-page.module.css";

const text = strings.webhooks;

/** A table on wide screens, cards on phones. */
export function WebhookList({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  const narrow = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  return narrow ? <WebhookCards webhooks={webhooks} /> : <WebhookTable webhooks={webhooks} />;
}

function WebhookTable({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  return (
    <table className={classes.table}>
      <thead>
        <tr>
          <th scope="col">{text.columns.name}</th>
          <th scope="col">{text.columns.state}</th>
          <th scope="col">{text.columns.events}</th>
          <th scope="col">{text.columns.lastCall}</th>
        </tr>
      </thead>
      <tbody>
        {webhooks.map((webhook) => (
          <tr key={webhook.id}>
            <td>
              <Name webhook={webhook} />
              <p className={`quiet ${page.address}`}>{webhook.url}</p>
            </td>
            <td>
              <WebhookState webhook={webhook} />
            </td>
            <td className={page.address}>{eventsText(webhook)}</td>
            <td>
              <LastCall webhook={webhook} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function WebhookCards({ webhooks }: { readonly webhooks: readonly Webhook[] }) {
  return (
    <ul className={classes.cards}>
      {webhooks.map((webhook) => (
        <li key={webhook.id} className={classes.card}>
          <div className={classes.cardHead}>
            <Name webhook={webhook} />
            <WebhookState webhook={webhook} />
          </div>
          <p className={`quiet ${page.address}`}>{webhook.url}</p>
          <div className={classes.cardLine}>
            <span className={page.address}>{eventsText(webhook)}</span>
            <span className="quiet">
              {text.columns.lastCall}: <LastCall webhook={webhook} />
            </span>
          </div>
        </li>
      ))}
    </ul>
  );
}

interface Props {
  readonly webhook: Webhook;
}

function Name({ webhook: { id, name } }: Props) {
  return (
    <Link to="/webhooks/$webhookId" params={{ webhookId: id }} className={classes.name}>
      {name}
    </Link>
  );
}

function LastCall({ webhook: { status } }: Props) {
  const at = status.lastTriggeredAt;
  return at === undefined ? <span className="quiet">{strings.actions.never}</span> : <Moment at={at} />;
}

/** Up to three by name; of more, how many. */
export function eventsText({ events }: Webhook): string {
  if (events.length === WEBHOOK_EVENTS.length) return text.allEvents;
  if (events.length > 3) return text.events(events.length);
  return events.join(", ") || strings.actions.none;
}
