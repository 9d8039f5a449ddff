/** Public interface of access control: decides who may watch content under a policy. */
export { AccessCheck, type AccessCheckDeps, type GuardedContent, type Verdict } from "./access-check.ts";
export type { AccessCallFailure, AccessWebhook, AccessWebhooksDeps, FindAccessWebhook } from "./access-webhook.ts";
export { hasOriginList } from "./allowed-origin.ts";
export { type OwnerToken, OwnerTokens } from "./owner-token.ts";
export { checkPolicy } from "./policy-rules.ts";
export { signingKeyRoutes } from "./signing-key-routes.ts";
export { SigningKeyUse } from "./signing-key-use.ts";
export type { KeyState } from "./token-check.ts";
