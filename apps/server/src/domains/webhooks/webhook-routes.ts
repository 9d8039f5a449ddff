import { routes, WEBHOOK_EVENTS, type Webhook, type WebhookLog } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { sql } from "kysely";
import { seesSecretsOf } from "../accounts/index.ts";
import { ApiRoutes, found, listOf, NotFound, type Principal } from "../api/index.ts";
import type { WebhookLogRow } from "../schema.ts";
import { findWebhookLog, webhookLogFields } from "./webhook-log-store.ts";
import { webhookLogRecord, webhookRecord, withoutAddress, withoutLogAddress } from "./webhook-record.ts";
import { WebhookService, type WebhookServiceDeps } from "./webhook-service.ts";
import { columns, type WebhookWithQueue, webhookFields } from "./webhook-store.ts";

interface Caller {
  readonly principal: Principal;
}

export function webhookRoutes(app: FastifyInstance, deps: WebhookServiceDeps): void {
  const { db } = deps;
  const api = new ApiRoutes(app, deps);
  const webhooks = new WebhookService(deps);
  const list = { fields: webhookFields, order: "createdAt-true", columns, shown };

  api.on(routes.createWebhook, async ({ principal, body }) => webhooks.create(principal, body));
  api.on(routes.getWebhook, async ({ principal, id }) => shown(await webhooks.find(principal, id), { principal }));
  api.on(routes.replaceWebhook, async ({ principal, id, body }) => webhooks.replace(principal, id, body));
  api.on(routes.patchWebhook, async ({ principal, id, body }) => webhooks.patch(principal, id, body));
  api.on(routes.deleteWebhook, async ({ principal, id }) => webhooks.delete(principal, id));
  api.on(routes.deleteWebhooks, async ({ principal, body }) => webhooks.deleteMany(principal, body.ids));
  api.on(routes.listWebhooks, listOf(db, "webhook", list));
  const listSubscribed = listOf(db, "webhook", {
    ...list,
    only({ params: { event } }) {
      if (!WEBHOOK_EVENTS.some((name) => name === event)) throw new NotFound("no webhook event has this name");
      return sql`${event} = any(events)`;
    },
  });
  api.on(routes.listSubscribedWebhooks, listSubscribed);

  const listLogs = listOf(db, "webhook_log", {
    fields: webhookLogFields,
    order: "createdAt-true",
    async only({ principal, id }) {
      await webhooks.find(principal, id);
      return sql`webhook_id = ${id}`;
    },
    shown: (row: WebhookLogRow, caller) => shownLog(webhookLogRecord(row), caller),
  });
  api.on(routes.listWebhookLogs, listLogs);
  api.on(routes.getWebhookLog, async ({ principal, id, params }) =>
    shownLog(webhookLogRecord(found(await findWebhookLog(db, principal, id, params.logId ?? ""))), { principal }),
  );
  api.on(routes.resendWebhookLog, async ({ principal, id, params }) =>
    shownLog(await webhooks.resend(principal, id, params.logId ?? ""), { principal }),
  );
  api.on(routes.replayWebhook, async ({ principal, id, body }) => ({
    events: await webhooks.replay(principal, id, body),
  }));
  api.on(routes.takeWebhookRequests, async ({ principal, id }) => ({ requests: await webhooks.take(principal, id) }), {
    mayBeEmpty: true,
  });
  api.on(routes.testWebhook, async ({ principal, id, body }) => webhooks.test(principal, id, body.event), {
    mayBeEmpty: true,
  });
}

/** The webhook as this caller may see it. */
function shown(row: WebhookWithQueue, { principal }: Caller): Webhook {
  const webhook = webhookRecord(row);
  return seesSecretsOf(principal.access, "webhook", webhook.id) ? webhook : withoutAddress(webhook);
}

const shownLog = (log: WebhookLog, { principal }: Caller): WebhookLog =>
  seesSecretsOf(principal.access, "webhook", log.webhookId) ? log : withoutLogAddress(log);
