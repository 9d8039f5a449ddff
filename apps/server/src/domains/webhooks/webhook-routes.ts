import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { ApiRoutes, answerPage, parseListQuery } from "../api/index.ts";
import { webhookLogFields } from "./webhook-log-store.ts";
import { WebhookService, type WebhookServiceDeps } from "./webhook-service.ts";
import { webhookFields } from "./webhook-store.ts";

const NEWEST_FIRST = "createdAt-true";

export function webhookRoutes(app: FastifyInstance, deps: WebhookServiceDeps): void {
  const api = new ApiRoutes(app, deps);
  const webhooks = new WebhookService(deps);

  api.on(routes.createWebhook, async ({ principal, body }) => webhooks.create(principal, body));
  api.on(routes.getWebhook, async ({ principal, id }) => webhooks.get(principal, id));
  api.on(routes.replaceWebhook, async ({ principal, id, body }) => webhooks.replace(principal, id, body));
  api.on(routes.patchWebhook, async ({ principal, id, body }) => webhooks.patch(principal, id, body));
  api.on(routes.deleteWebhook, async ({ principal, id }) => webhooks.delete(principal, id));
  api.on(routes.deleteWebhooks, async ({ principal, body }) => webhooks.deleteMany(principal, body.ids));
  api.on(routes.listWebhooks, async ({ principal, query, origin, url }, reply) => {
    const page = await webhooks.list(principal, parseListQuery(query, webhookFields, NEWEST_FIRST));
    return answerPage(reply, page, { origin, url });
  });
  api.on(routes.listSubscribedWebhooks, async ({ principal, params, query, origin, url }, reply) => {
    const list = parseListQuery(query, webhookFields, NEWEST_FIRST);
    return answerPage(reply, await webhooks.listSubscribed(principal, list, params.event ?? ""), { origin, url });
  });

  api.on(routes.listWebhookLogs, async ({ principal, id, query, origin, url }, reply) => {
    const page = await webhooks.listLogs(principal, id, parseListQuery(query, webhookLogFields, NEWEST_FIRST));
    return answerPage(reply, page, { origin, url });
  });
  api.on(routes.getWebhookLog, async ({ principal, id, params }) => webhooks.getLog(principal, id, params.logId ?? ""));
  api.on(routes.resendWebhookLog, async ({ principal, id, params }) =>
    webhooks.resend(principal, id, params.logId ?? ""),
  );
  api.on(routes.replayWebhook, async ({ principal, id, body }) => ({
    events: await webhooks.replay(principal, id, body),
  }));
  api.on(routes.testWebhook, async ({ principal, id, body }) => webhooks.test(principal, id, body.event), {
    mayBeEmpty: true,
  });
}
