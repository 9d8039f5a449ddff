import type { WebhookRequest } from "@weir/contract";
import type { Deps } from "../deps.ts";
import { bodyOfDelivery, type Snapshots } from "./delivery-body.ts";
import { deleteDelivery, finishQueue, lockWaitingQueues, readHeads } from "./delivery-store.ts";
import { headersOf } from "./webhook-call.ts";

export interface PickupDeps extends Deps {
  readonly snapshots: Snapshots;
}

const QUEUES = 16;
const OF_EACH_QUEUE = 20;

/** The requests that would be sent for the waiting events of a paused webhook, in the order of each subject. They no longer wait then. */
export function takeWaiting({ db, clock, snapshots }: PickupDeps, webhookId: string): Promise<WebhookRequest[]> {
  return db.transaction().execute(async (trx) => {
    const taken: WebhookRequest[] = [];
    for (const key of await lockWaitingQueues(trx, webhookId, clock.now(), QUEUES)) {
      const heads = await readHeads(trx, key, OF_EACH_QUEUE);
      const snapshot = await snapshots.subject[key.subject.kind](key.subject.id);
      for (const head of heads) {
        const { webhook, event, id } = head;
        const sentAt = clock.now();
        const body = webhook && (await bodyOfDelivery(snapshots, { key, head, webhook, snapshot, sentAt }));
        if (webhook && body) taken.push({ event, headers: headersOf(webhook, body, sentAt), body });
        await deleteDelivery(trx, id);
      }
      await finishQueue(trx, key);
    }
    return taken;
  });
}
