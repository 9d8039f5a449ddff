/** The door of the accounts: who asks, and what belongs to whom. */
export { seesStreamKey } from "./access.ts";
export { deleteExpiredDashboardSessions, ensureAccount, type Principal } from "./account-store.ts";
export { newApiKey } from "./api-key.ts";
export { type AuthenticateDeps, authenticate } from "./authenticate.ts";
export { answerOnce, forgetOldAnswers, IDEMPOTENCY_HEADER, RequestInProgress } from "./idempotency.ts";
export { KeyGuesses } from "./key-guesses.ts";
export { Passwords } from "./password.ts";
export { guardRequests, principalOf } from "./request-guard.ts";
