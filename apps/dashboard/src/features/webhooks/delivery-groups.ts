import type { WebhookLog } from "@weir/contract";

/** The attempts to deliver one event, the latest first. */
export interface DeliveryGroup {
  readonly latest: WebhookLog;
  readonly earlier: readonly WebhookLog[];
}

/** One group for each event, in the order of the latest attempts. */
export function groupDeliveries(deliveries: readonly WebhookLog[]): DeliveryGroup[] {
  const byEvent = Map.groupBy(deliveries, (delivery) => sentOf(delivery).id ?? delivery.id);
  return [...byEvent.values()].flatMap(([latest, ...earlier]) => (latest ? [{ latest, earlier }] : []));
}

/** When the event is sent again; null where it was delivered, or is not sent again. */
export function nextAttemptAt({ latest, earlier }: DeliveryGroup, now: number): number | null {
  if (latest.success) return null;
  // Sending it again by hand meanwhile changes nothing about the plan.
  return [latest, ...earlier].find(({ retryAt = 0 }) => retryAt > now)?.retryAt ?? null;
}

/** A test sent it; nothing happened. */
export function isTest(delivery: WebhookLog): boolean {
  return sentOf(delivery).payload?.test === true;
}

interface Sent {
  readonly id?: string;
  readonly payload?: { readonly test?: unknown };
}

function sentOf({ request }: WebhookLog): Sent {
  try {
    return (JSON.parse(request.body) ?? {}) as Sent;
  } catch {
    return {};
  }
}
