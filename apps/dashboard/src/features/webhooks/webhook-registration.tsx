import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Webhook } from "@weir/contract";
import { Figures } from "../../shared/components/figures.tsx";
import { Moment } from "../../shared/components/moment.tsx";
import { Panel } from "../../shared/components/panel.tsx";
import { ValueField } from "../../shared/components/value-field.tsx";
import { strings } from "../../shared/strings.ts";
import { streamQuery } from "../streams/stream-queries.ts";
import classes from "./webhook-registration.module.css";

const text = strings.webhooks.page;

/** The details of a webhook: its URL, its events and how the receiver can verify it. */
export function WebhookRegistration({ webhook }: { readonly webhook: Webhook }) {
  return (
    <Panel title={text.registration}>
      <ValueField label={text.url} value={webhook.url} />
      <Figures
        figures={[
          {
            name: text.events,
            value: (
              <ul className={classes.events}>
                {webhook.events.map((event) => (
                  <li key={event}>
                    <code title={strings.webhooks.meanings[event]}>{event}</code>
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
                  value: <StreamLink streamId={webhook.streamId} />,
                },
              ]),
          { name: text.secret, value: webhook.isSigned ? text.signed : text.unsigned },
          { name: text.created, value: <Moment at={webhook.createdAt} /> },
        ]}
      />
      <p className="quiet">{webhook.isSigned ? text.signedHint : text.unsignedHint}</p>
      <ValueField label={text.id} value={webhook.id} />
    </Panel>
  );
}

function StreamLink({ streamId }: { readonly streamId: string }) {
  const { data } = useQuery(streamQuery(streamId));
  return (
    <Link to="/streams/$streamId" params={{ streamId }}>
      {data?.name ?? text.oneStream}
    </Link>
  );
}
