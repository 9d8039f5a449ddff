import { routes, type Webhook, type WebhookLog } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { seesSecretsOf } from "../accounts/index.ts";
import { ApiRoutes, answerPage, type Page, type Principal, parseListQuery } from "../api/index.ts";
import { webhookLogFields } from "./webhook-log-store.ts";
import { withoutAddress, withoutLogAddress } from "./webhook-record.ts";
import { WebhookService, type WebhookServiceDeps } from "./webhook-service.ts";
import { webhookFields } from "./webhook-store.ts";

const NEWEST_FIRST = "createdAt-true";

export function webhookRoutes(app: FastifyInstance, deps: WebhookServiceDeps): void {
  const api = new ApiRoutes(app, deps);
  const webhooks = new WebhookService(deps);

  api.on(routes.createWebhook, async ({ principal, body }) => webhooks.create(principal, body));
  api.on(routes.getWebhook, async ({ principal, id }) => shown(principal, await webhooks.get(principal, id)));
  api.on(routes.replaceWebhook, async ({ principal, id, body }) => webhooks.replace(principal, id, body));
  api.on(routes.patchWebhook, async ({ principal, id, body }) => webhooks.patch(principal, id, body));
  api.on(routes.deleteWebhook, async ({ principal, id }) => webhooks.delete(principal, id));
  api.on(routes.deleteWebhooks, async ({ principal, body }) => webhooks.deleteMany(principal, body.ids));
  api.on(routes.listWebhooks, async ({ principal, query, origin, url }, reply) => {
    const page = await webhooks.list(principal, parseListQuery(query, webhookFields, NEWEST_FIRST));
    return answerPage(reply, shownPage(principal, page), { origin, url });
  });
  api.on(routes.listSubscribedWebhooks, async ({ principal, params, query, origin, url }, reply) => {
    const list = parseListQuery(query, webhookFields, NEWEST_FIRST);
    const page = await webhooks.listSubscribed(principal, list, params.event ?? "");
    return answerPage(reply, shownPage(principal, page), { origin, url });
  });

  api.on(routes.listWebhookLogs, async ({ principal, id, query, origin, url }, reply) => {
    const page = await webhooks.listLogs(principal, id, parseListQuery(query, webhookLogFields, NEWEST_FIRST));
    const items = page.items.map((log) => shownLog(principal, log));
    return answerPage(reply, { ...page, items }, { origin, url });
  });
  api.on(routes.getWebhookLog, async ({ principal, id, params }) =>
    shownLog(principal, await webhooks.getLog(principal, id, params.logId ?? "")),
  );
  api.on(routes.resendWebhookLog, async ({ principal, id, params }) =>
    shownLog(principal, await webhooks.resend(principal, id, params.logId ?? "")),
  );
  api.on(routes.replayWebhook, async ({ principal, id, body }) => ({
    events: await webhooks.replay(principal, id, body),
  }));
  api.on(routes.testWebhook, async ({ principal, id, body }) => webhooks.test(principal, id, body.event), {
    mayBeEmpty: true,
  });
}

/** The webhook as this caller may see it. */
const shown = ({ access }: Principal, webhook: Webhook): Webhook =>
  seesSecretsOf(access, "webhook", webhook.id) ? webhook : withoutAddress(webhook);

const shownPage = (principal: Principal, page: Page<Webhook>): Page<Webhook> => ({
  ...page,
  items: page.items.map((webhook) => shown(principal, webhook)),
});

const shownLog = ({ access }: Principal, log: WebhookLog): WebhookLog =>
  seesSecretsOf(access, "webhook", log.webhookId) ? log : withoutLogAddress(log);
