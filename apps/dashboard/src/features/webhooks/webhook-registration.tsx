import { Link } from "@tanstack/react-router";
import type { Webhook } from "@weir/contract";
import { Figures } from "../../components/figures.tsx";
import { Moment } from "../../components/moment.tsx";
import { Panel } from "../../components/panel.tsx";
import { ValueField } from "../../components/value-field.tsx";
import { strings } from "../../strings.ts";
import classes from "./webhook-page.module.css";

const text = strings.webhooks.page;

/** The details of a webhook: its URL, its events and how the receiver can verify it. */
export function WebhookRegistration({ webhook }: { readonly webhook: Webhook }) {
  const { waiting } = webhook.status;
  return (
    <Panel title={text.registration}>
      <ValueField label={text.url} value={webhook.url} />
      <ValueField label={text.id} value={webhook.id} />
      <Figures
        figures={[
          {
            name: text.events,
            value: (
              <ul className={classes.events}>
                {webhook.events.map((event) => (
                  <li key={event}>
                    <code>{event}</code>
                  </li>
                ))}
              </ul>
            ),
          },
          ...(webhook.streamId === undefined
            ? []
            : [
                {
                  name: text.stream,
                  value: (
                    <Link to="/streams/$streamId" params={{ streamId: webhook.streamId }}>
                      {text.oneStream}
                    </Link>
                  ),
                },
              ]),
          { name: text.secret, value: webhook.isSigned ? text.signed : text.unsigned },
          { name: text.waiting, value: text.waitingCount(waiting) },
          { name: text.created, value: <Moment at={webhook.createdAt} /> },
        ]}
      />
    </Panel>
  );
}
