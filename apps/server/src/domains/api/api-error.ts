import type { ErrorCode } from "@weir/contract";

/** A deliberate error response of the API. Domains extend it; the HTTP edge turns it into `{errors, message, code, requestId}`. */
export class ApiError extends Error {
  readonly statusCode: number;
  readonly code: ErrorCode;
  constructor(statusCode: number, code: ErrorCode, message: string) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
  }
}

/** Unknown objects, deleted objects and other accounts' objects are indistinguishable. */
export class NotFound extends ApiError {
  constructor(message = "not found") {
    super(404, "not-found", message);
  }
}

/** What was looked up. Throws `NotFound`. */
export function found<Found>(looked: Found | null | undefined, message?: string): Found {
  if (looked === null || looked === undefined) throw new NotFound(message);
  return looked;
}

/** Too many requests; the `Retry-After` header says when to retry. */
export class TooManyRequests extends ApiError {
  constructor(message: string) {
    super(429, "too-many-requests", message);
  }
}

/** The request fits the schema but makes no sense; the text is for the caller. */
export class BadRequest extends ApiError {
  constructor(message: string) {
    super(400, "bad-request", message);
  }
}

/** The caller is unknown. Existing clients know the texts. */
export class Unauthenticated extends ApiError {
  constructor(message = "request is not authenticated: send the header Authorization: Bearer and an API key") {
    super(401, "unauthenticated", message);
  }
}

/** A key was sent, and is none of this server's. */
export class UnknownKey extends ApiError {
  constructor() {
    super(401, "unknown-key", "Unknown API key. Check it, or create one in the dashboard under Keys.");
  }
}

/** Clients of the public API know this, and this server does not have it. */
export class NotImplemented extends ApiError {
  constructor(message: string) {
    super(501, "not-implemented", message);
  }
}

/** An address that Weir does not call. `what` is what would have been done, `why` the reason of `Outbound.refusalOf`. */
export class RefusedUrl extends ApiError {
  constructor(what: string, why: string) {
    super(
      400,
      /WEIR_(ALLOW_PRIVATE_URLS|PULL_NETWORKS)/.test(why) ? "private-address" : "bad-request",
      `${what}: ${why}`,
    );
  }
}

export class Forbidden extends ApiError {
  constructor(message: string) {
    super(403, "forbidden", message);
  }
}
