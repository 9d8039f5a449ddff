import { useDocumentTitle } from "@mantine/hooks";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { CreateWebhookDialog } from "../../features/webhooks/create-webhook-dialog.tsx";
import { WebhookList } from "../../features/webhooks/webhook-list.tsx";
import { webhooksQuery } from "../../features/webhooks/webhook-queries.ts";
import { DialogButton } from "../../shared/components/dialog-button.tsx";
import { EmptyState } from "../../shared/components/empty-state.tsx";
import { Loading } from "../../shared/components/loading.tsx";
import page from "../../shared/components/page.module.css";
import { PageLinks } from "../../shared/components/page-links.tsx";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { strings } from "../../shared/strings.ts";

const text = strings.webhooks;
const route = getRouteApi("/app/webhooks");

export function WebhooksPage() {
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const webhooks = useQuery(webhooksQuery(cursor));
  useDocumentTitle(`${text.title} · ${strings.app.name}`);
  return (
    <div className={page.page}>
      <header className={page.header}>
        <h1>{text.title}</h1>
        <DialogButton
          label={text.create}
          leftSection={<IconPlus size={16} aria-hidden />}
          dialog={(close) => <CreateWebhookDialog onClose={close} />}
        />
      </header>
      <p className="quiet">{text.lead}</p>
      <QueryProblem error={webhooks.error} />
      {!webhooks.data && !webhooks.error && <Loading />}
      {webhooks.data?.items.length === 0 && cursor === undefined && (
        <EmptyState icon={<IconWebhook size={24} />} {...text.empty} />
      )}
      {webhooks.data && webhooks.data.items.length > 0 && <WebhookList webhooks={webhooks.data.items} />}
      <PageLinks
        cursor={cursor}
        nextCursor={webhooks.data?.nextCursor}
        onCursor={(next) => navigate({ search: next === undefined ? {} : { cursor: next } })}
      />
    </div>
  );
}
