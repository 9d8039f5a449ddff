import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import {
  type NewWebhook,
  WEBHOOK_EVENTS,
  type WebhookEventName,
  type WebhookPatch,
  type WebhookReplay,
} from "@weir/contract";
import { useChange } from "../../shared/lib/change.ts";
import { weir } from "../../shared/lib/weir.ts";

const WEBHOOKS = ["webhooks"];

export function webhooksQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...WEBHOOKS, "list", cursor ?? null],
    queryFn: ({ signal }) => weir.webhooks.list({ cursor, signal }),
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  });
}

/** The webhooks that a stream's policy can name. */
export const accessWebhooksQuery = queryOptions({
  queryKey: [...WEBHOOKS, "access"],
  queryFn: async ({ signal }) => {
    const { items } = await weir.webhooks.list({ limit: 1000, signal });
    return items.filter(({ events }) => events.includes("playback.accessControl"));
  },
});

/** The page refreshes it often, because the person is waiting for the next call. */
export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: [...WEBHOOKS, "one", id],
    queryFn: ({ signal }) => weir.webhooks.get(id, { signal }),
    refetchInterval: 5000,
  });
}

export interface DeliverySearch {
  readonly cursor?: string;
  /** Only deliveries that failed. */
  readonly failed?: true;
  readonly event?: string;
}

export function deliveriesQuery(id: string, { cursor, failed, event: wanted }: DeliverySearch) {
  return queryOptions({
    queryKey: [...WEBHOOKS, "deliveries", id, cursor ?? null, failed ?? false, wanted ?? null],
    queryFn: ({ signal }) => {
      const event = WEBHOOK_EVENTS.find((known) => known === wanted);
      return weir.webhooks.logs(id, { cursor, event, signal, ...(failed && { success: false }) });
    },
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
}

export function useCreateWebhook() {
  return useChange(WEBHOOKS, (wanted: NewWebhook) => weir.webhooks.create(wanted));
}

export function usePatchWebhook(id: string) {
  return useChange(WEBHOOKS, (changes: WebhookPatch) => weir.webhooks.patch(id, changes));
}

export function useDeleteWebhook(id: string) {
  return useChange(WEBHOOKS, (_: undefined) => weir.webhooks.delete(id));
}

export function useTestWebhook(id: string) {
  return useChange(WEBHOOKS, (event: WebhookEventName | undefined) => weir.webhooks.test(id, event && { event }));
}

export function useResend(id: string) {
  return useChange(WEBHOOKS, (logId: string) => weir.webhooks.resend(id, logId));
}

export function useReplay(id: string) {
  return useChange(WEBHOOKS, (range: WebhookReplay) => weir.webhooks.replay(id, range));
}
