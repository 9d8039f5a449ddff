import type { ErrorCode } from "../error-codes.ts";
import type { Route } from "../route.ts";
import type { Description } from "./description.ts";

const EVERY = ["bad-address", "too-many-requests", "internal", "database-away", "database-busy"] as const;
/** An unexpected query parameter `projectId` is a bad request of any operation with a key. */
const WITH_KEY = ["unauthenticated", "unknown-key", "forbidden", "bad-request"] as const;
const WITH_BODY = [
  "bad-json",
  "bad-request",
  "body-too-large",
  "unsupported-media-type",
  "unsupported-encoding",
] as const;
const IDEMPOTENT = ["in-progress", "idempotency-key-reused"] as const;

/** Whether the operation takes the header `Idempotency-Key`. */
export const takesIdempotencyKey = ({ method, auth }: Route): boolean => method === "POST" && auth !== "none";

/** Every code that an operation may answer, in the order of the alphabet. */
export function errorsOf(route: Route, { errors }: Pick<Description, "errors">): ErrorCode[] {
  const all: readonly ErrorCode[] = [
    ...EVERY,
    ...(route.auth === "none" ? [] : WITH_KEY),
    ...(route.method === "GET" ? [] : WITH_BODY),
    ...(route.body ? (["invalid-body"] as const) : []),
    ...(takesIdempotencyKey(route) ? IDEMPOTENT : []),
    ...errors,
  ];
  return [...new Set(all)].sort();
}
