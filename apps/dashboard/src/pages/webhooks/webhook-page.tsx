import { useDocumentTitle } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { Webhook } from "@weir/contract";
import { DeliveryList } from "../../features/webhooks/delivery-list.tsx";
import { WebhookActions } from "../../features/webhooks/webhook-actions.tsx";
import { webhookQuery } from "../../features/webhooks/webhook-queries.ts";
import { WebhookRegistration } from "../../features/webhooks/webhook-registration.tsx";
import { stateOf, WebhookState } from "../../features/webhooks/webhook-state.tsx";
import { LastMoment } from "../../shared/components/moment.tsx";
import { Note } from "../../shared/components/note.tsx";
import page from "../../shared/components/page.module.css";
import { PageOfOne } from "../../shared/components/page-of-one.tsx";
import { strings } from "../../shared/strings.ts";

const text = strings.webhooks.page;
const route = getRouteApi("/app/webhooks/$webhookId");

export function WebhookPage() {
  const { webhookId } = route.useParams();
  const webhook = useQuery(webhookQuery(webhookId));
  return (
    <PageOfOne query={webhook} gone={text.gone} all={<Link to="/webhooks">{text.all}</Link>}>
      {(found) => <WebhookBody webhook={found} />}
    </PageOfOne>
  );
}

function WebhookBody({ webhook }: { readonly webhook: Webhook }) {
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
          <p className={page.facts}>
            <WebhookState webhook={webhook} />
            <span className="quiet">
              {text.lastCall}: <LastMoment at={webhook.status.lastTriggeredAt} />
            </span>
            {webhook.status.waiting > 0 && <span>{text.queued(webhook.status.waiting)}</span>}
          </p>
        </div>
        <WebhookActions webhook={webhook} />
      </header>
      <Trouble webhook={webhook} />
      <div className={page.withFacts}>
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
