import { CallRefused } from "../outbound/outbound-fetch.ts";

type Failure = { readonly status: number; readonly code: string } | { readonly error: unknown };

/** The object store did not do what it was asked. */
export class StoreFailed extends Error {
  /** Null where there was no whole answer. */
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

  /** No answer, or one of an overloaded or broken server: it may be another one in a minute. */
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
  // `fetch` says only that it failed, and has the reason as a cause.
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, message } = reason as { readonly code?: unknown; readonly message?: unknown };
  return `did not answer (${typeof code === "string" ? code : String(message ?? reason)})`;
}
