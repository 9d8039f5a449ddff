export { type AccessJwt, signAccessJwt } from "./access-jwt.ts";
export type { EventOptions } from "./events.ts";
export type { ListOptions, Page } from "./page.ts";
export type { StreamListOptions } from "./streams.ts";
export type { CallOptions, ClientOptions } from "./transport.ts";
export { type SignedBody, verifyWebhook } from "./webhook-signature.ts";
export type { WebhookLogOptions } from "./webhooks.ts";
export { WeirClient } from "./weir-client.ts";
export { WeirError } from "./weir-error.ts";
