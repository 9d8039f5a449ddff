import { CallRefused } from "../../platform/outbound/outbound-fetch.ts";
import { ObjectNotFound } from "../../platform/storage/object-store.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";
import { type CustomerBucket, TaskFailed } from "../../ports/index.ts";

const WRONG_CREDENTIALS = /^(InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken)$/;
const OTHER_REGION = /^(AuthorizationHeaderMalformed|PermanentRedirect|IllegalLocationConstraintException)$/;
const NO_ROOM = /Quota|InsufficientStorage|StorageFull|EntityTooLarge/i;

/** Turns a response of a customer's bucket into a message for its owner. Other errors are returned unchanged. */
export function inWords(error: unknown, { bucket, endpoint }: CustomerBucket, does: "read" | "write"): unknown {
  const host = URL.parse(endpoint)?.host ?? "the endpoint";
  const where = `bucket ${bucket} at ${host}`;
  const final = (sentence: string) => new TaskFailed(sentence, { isFinal: true, cause: error });
  if (error instanceof ObjectNotFound)
    return final(
      does === "read"
        ? `There is no file ${error.key} in the ${where}: check the path.`
        : `There is no ${where}: create it, or use another one.`,
    );
  if (!(error instanceof StoreFailed)) return error;
  const { status, code, cause } = error;
  if (cause instanceof CallRefused) return final(`The ${where} cannot be accessed: ${cause.message}.`);
  if (status === 404 && code === "NoSuchBucket") return final(`There is no ${where}: create it, or use another one.`);
  if (WRONG_CREDENTIALS.test(code))
    return final(`The ${where} rejects the credentials (${code}): check accessKeyId and secretAccessKey.`);
  if (code === "InvalidRange") return final(`The file in the ${where} is empty.`);
  if (OTHER_REGION.test(code) || status === 301 || status === 307)
    return final(`The ${where} is in another region: use the endpoint of its region, or set the region.`);
  if (status === 507 || NO_ROOM.test(code))
    return final(`The ${where} has not enough space for the files (${code || status}).`);
  if (status === 401 || status === 403)
    return final(
      `The credentials have no permission to ${does === "read" ? "read from" : "write to"} the ${where} (${code || status}).`,
    );
  if (error.isTemporary)
    return new TaskFailed(`The ${where} does not respond like an S3 store (${status ?? "no response"}).`, {
      ...{ isFinal: false, cause: error },
    });
  return final(`The ${where} responded with ${status} ${code}`.trimEnd().concat("."));
}
