import { CallRefused } from "../outbound/outbound-fetch.ts";

type Failure = { readonly status: number; readonly code: string } | { readonly error: unknown };

/** The object store did not do what was requested. */
export class StoreFailed extends Error {
  /** Null if there was no complete response. */
  readonly status: number | null;
  /** The store's word for what is wrong, such as `NoSuchBucket`; empty where it said none. */
  readonly code: string;

  constructor(what: string, key: string, failure: Failure) {
    super(
      `could not ${what} ${key || "the bucket"}: the object store ${sentenceOf(failure)}`,
      "error" in failure ? { cause: failure.error } : {},
    );
    this.status = "status" in failure ? failure.status : null;
    this.code = "status" in failure ? failure.code : "";
  }

  /** The store has no such object. */
  get isMissing(): boolean {
    return this.status === 404 && this.code !== "NoSuchBucket";
  }

  /** No response, or that of an overloaded or broken server: a retry in a minute may succeed. */
  get isTemporary(): boolean {
    if (this.cause instanceof CallRefused) return false;
    return this.status === null || this.status >= 500 || this.status === 429;
  }
}

export class NoAnswer extends Error {
  readonly withinMs: number;

  constructor(withinMs: number) {
    super(`nothing within ${withinMs / 1_000} s`);
    this.withinMs = withinMs;
  }
}

function sentenceOf(failure: Failure): string {
  if ("status" in failure) return `answered ${failure.status} ${failure.code}`.trim();
  const { error } = failure;
  // `fetch` reports only that it failed; the reason is its cause.
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = reason as { readonly code?: unknown; readonly message?: unknown };
  return `did not answer (${typeof code === "string" ? code : String(message ?? reason)})`;
}
