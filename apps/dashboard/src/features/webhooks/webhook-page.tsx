import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { WeirError } from "@weir/client";
import type { Webhook } from "@weir/contract";
import { Note } from "../../components/note.tsx";
import page from "../../components/page.module.css";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import { DeliveryList } from "./delivery-list.tsx";
import { WebhookActions } from "./webhook-actions.tsx";
import classes from "./webhook-page.module.css";
import { webhookQuery } from "./webhook-queries.ts";
import { WebhookRegistration } from "./webhook-registration.tsx";
import { stateOf, WebhookState } from "./webhook-state.tsx";

const text = strings.webhooks.page;
const route = getRouteApi("/app/webhooks/$webhookId");

export function WebhookPage() {
  const { webhookId } = route.useParams();
  const webhook = useQuery(webhookQuery(webhookId));
  if (webhook.data) return <WebhookBody webhook={webhook.data} error={webhook.error} />;
  if (webhook.error instanceof WeirError && webhook.error.status === 404) {
    return (
      <Note tone="warning" title={text.gone.title}>
        {text.gone.body} <Link to="/webhooks">{text.all}</Link>
      </Note>
    );
  }
  return webhook.error ? <QueryProblem error={webhook.error} /> : <p className="quiet">{strings.app.loading}</p>;
}

function WebhookBody({ webhook, error }: { readonly webhook: Webhook; readonly error: Error | null }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useDocumentTitle(`${webhook.name} · ${strings.app.name}`);
  return (
    <article className={page.page}>
      <header className={page.header}>
        <div className={page.title}>
          <Link to="/webhooks" className={page.back}>
            {text.back}
          </Link>
          <h1>{webhook.name}</h1>
          <WebhookState webhook={webhook} />
        </div>
      </header>
      <QueryProblem error={error} />
      <Trouble webhook={webhook} />
      <WebhookActions webhook={webhook} />
      <div className={classes.columns}>
        <DeliveryList webhook={webhook} search={search} onSearch={(next) => navigate({ search: next })} />
        <WebhookRegistration webhook={webhook} />
      </div>
    </article>
  );
}

function Trouble({ webhook }: { readonly webhook: Webhook }) {
  const { failuresInARow, lastFailure, pauseReason } = webhook.status;
  switch (stateOf(webhook)) {
    case "active":
      return null;
    case "paused":
      return (
        <Note tone="warning" title={text.paused(pauseReason ?? "")}>
          {text.kept}
        </Note>
      );
    case "failing":
      return (
        <Note tone="failure" title={text.failing(failuresInARow, lastFailure?.error ?? "")}>
          {text.failingBody}
        </Note>
      );
  }
}
