import { useDocumentTitle } from "@mantine/hooks";
import { IconPlus, IconWebhook } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { DialogButton } from "../../components/dialog-button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Loading } from "../../components/loading.tsx";
import page from "../../components/page.module.css";
import { PageLinks } from "../../components/page-links.tsx";
import { QueryProblem } from "../../components/query-problem.tsx";
import { strings } from "../../strings.ts";
import { CreateWebhookDialog } from "./create-webhook-dialog.tsx";
import { WebhookList } from "./webhook-list.tsx";
import { webhooksQuery } from "./webhook-queries.ts";

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
