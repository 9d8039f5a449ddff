/** Public interface of accounts: identifies callers, and says what belongs to whom. */
export { seesSecretsOf } from "./access.ts";
export { deleteExpiredDashboardSessions, ensureAccount } from "./account-store.ts";
export { newApiKey } from "./api-key.ts";
export { type AuthenticateDeps, authenticate } from "./authenticate.ts";
export { KeyGuesses } from "./key-guesses.ts";
export { Passwords } from "./password.ts";
export { guardRequests } from "./request-guard.ts";
