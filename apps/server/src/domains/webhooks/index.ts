/** Public interface of webhooks. */
export type { Snapshots } from "./delivery-body.ts";
export { queueDeliveries } from "./delivery-outbox.ts";
export { forgetOldDeliveries } from "./delivery-store.ts";
export { DeliveryWorker } from "./delivery-worker.ts";
export { tellNewViewers } from "./viewer-events.ts";
export { forgetOldCalls } from "./webhook-log-store.ts";
export { webhookRoutes } from "./webhook-routes.ts";
export { findAccessWebhook, noteAccessCall } from "./webhook-store.ts";
