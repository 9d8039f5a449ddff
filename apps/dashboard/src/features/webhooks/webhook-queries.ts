import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import type { NewWebhook, WebhookPatch, WebhookReplay } from "@weir/contract";
import { weir } from "../../lib/weir.ts";

const WEBHOOKS = ["webhooks"];

export function webhooksQuery(cursor: string | undefined) {
  return queryOptions({
    queryKey: [...WEBHOOKS, "list", cursor ?? null],
    queryFn: ({ signal }) => weir.webhooks.list({ cursor, signal }),
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  });
}

/** Those that a stream's policy can name. */
export const accessWebhooksQuery = queryOptions({
  queryKey: [...WEBHOOKS, "access"],
  queryFn: async ({ signal }) => {
    const { items } = await weir.webhooks.list({ limit: 1000, signal });
    return items.filter(({ events }) => events.includes("playback.accessControl"));
  },
});

/** Asked often: whoever looks at one webhook waits for what it is called about. */
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
}

export function deliveriesQuery(id: string, { cursor, failed }: DeliverySearch) {
  return queryOptions({
    queryKey: [...WEBHOOKS, "deliveries", id, cursor ?? null, failed ?? false],
    queryFn: ({ signal }) => weir.webhooks.logs(id, { cursor, signal, ...(failed && { success: false }) }),
    refetchInterval: 5000,
    placeholderData: keepPreviousData,
  });
}

function useChange<Wanted, Answer>(change: (wanted: Wanted) => Promise<Answer>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    // What is sent may have a shared secret: it is not kept longer than the dialog.
    gcTime: 0,
    onSettled: () => queries.invalidateQueries({ queryKey: WEBHOOKS }),
  });
}

export function useCreateWebhook() {
  return useChange((wanted: NewWebhook) => weir.webhooks.create(wanted));
}

export function usePatchWebhook(id: string) {
  return useChange((changes: WebhookPatch) => weir.webhooks.patch(id, changes));
}

export function useDeleteWebhook(id: string) {
  return useChange((_: undefined) => weir.webhooks.delete(id));
}

export function useTestWebhook(id: string) {
  return useChange((_: undefined) => weir.webhooks.test(id));
}

export function useResend(id: string) {
  return useChange((logId: string) => weir.webhooks.resend(id, logId));
}

export function useReplay(id: string) {
  return useChange((range: WebhookReplay) => weir.webhooks.replay(id, range));
}
