/** What of an error of the S3 library a person needs. The rest may hold the access key, or the whole request. */
interface ServiceError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** The object store did not do what it was asked. */
export class StoreFailed extends Error {
  /** Null where there was no answer. */
  readonly status: number | null;

  constructor(what: string, key: string, cause: unknown) {
    const { name, message, code, $metadata } = cause as ServiceError;
    const status = $metadata?.httpStatusCode ?? null;
    const answer = status === null ? `did not answer (${code ?? message ?? name})` : `answered ${status} ${name ?? ""}`;
    super(`could not ${what} ${key}: the object store ${answer.trim()}`);
    this.status = status;
  }
}

/** That there is no such object, as against no such bucket. A HEAD has no body that tells them apart. */
export function answersAbsent(error: unknown): boolean {
  const { name, $metadata } = error as ServiceError;
  return $metadata?.httpStatusCode === 404 && name !== "NoSuchBucket" && name !== "NoSuchUpload";
}
