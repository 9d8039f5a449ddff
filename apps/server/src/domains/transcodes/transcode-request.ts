import type { NewTranscode, TranscodeInput, TranscodeStorage } from "@weir/contract";
import type { CustomerBucket } from "../../ports/index.ts";
import { BadRequest, RefusedUrl } from "../api/index.ts";
import { withoutQuery } from "../tasks/index.ts";

type S3 = Extract<TranscodeStorage, { type: "s3" }>;

/** A request with a storage that Weir can write to. */
export interface TranscodeRequest extends NewTranscode {
  readonly storage: S3;
}

const REGION_OF_HOST = /(?:^|\.)s3[.-](?:dualstack\.)?([a-z]{2,}-[a-z0-9-]+)\./;
const CONTROL = /\p{Cc}/u;

/** Throws `BadRequest` for a valid body that cannot be carried out. `refusalOf` returns the reason why Weir does not call a URL. */
export function checkTranscode(request: NewTranscode, refusalOf: (url: string) => string | null): TranscodeRequest {
  const { input, storage, outputs } = request;
  if (storage.type !== "s3")
    throw new BadRequest("results cannot be written to web3.storage: name a bucket of an S3 store");
  const paths = [outputs.hls?.path, outputs.mp4?.path, outputs.fmp4?.path].filter((path) => path !== undefined);
  if (paths.length === 0) throw new BadRequest("outputs names nothing to make: hls, mp4 or fmp4");
  for (const path of paths) checkPath("an output's path", path);
  checkInput(input, refusalOf);
  checkEndpoint("storage", storage.endpoint, refusalOf);
  return { ...request, storage };
}

function checkInput(input: TranscodeInput, refusalOf: (url: string) => string | null): void {
  if ("url" in input) {
    const refusal = refusalOf(input.url);
    if (refusal !== null) throw new RefusedUrl("the input cannot be fetched from this url", refusal);
    return;
  }
  checkEndpoint("input", input.endpoint, refusalOf);
  checkPath("the input's path", input.path);
  if (keyOf(input.path) === "" || input.path.endsWith("/")) throw new BadRequest("the input's path names no file");
}

function checkEndpoint(what: string, endpoint: string, refusalOf: (url: string) => string | null): void {
  const refusal = refusalOf(endpoint);
  if (refusal !== null) throw new RefusedUrl(`the endpoint of the ${what} cannot be called`, refusal);
  const { search, hash } = new URL(endpoint);
  if (search || hash) throw new BadRequest(`the endpoint of the ${what} must not hold a query`);
}

function checkPath(what: string, path: string): void {
  const isOdd = keyOf(path)
    .split("/")
    .some((segment) => segment === "." || segment === "..");
  if (isOdd || CONTROL.test(path))
    throw new BadRequest(`${what} must not hold "." or ".." as a folder, or control characters`);
}

/** The key of an object: a path without leading slashes. */
export const keyOf = (path: string): string => path.replace(/^\/+/, "");

/** Prefix of the keys in a folder. */
export function folderOf(path: string): string {
  const key = keyOf(path).replace(/\/+$/, "");
  return key === "" ? "" : `${key}/`;
}

export function bucketOf({ endpoint, bucket, region, credentials }: Omit<S3, "type">): CustomerBucket {
  const found = region ?? REGION_OF_HOST.exec(new URL(endpoint).hostname)?.[1] ?? "us-east-1";
  return { endpoint, bucket, region: found, ...credentials };
}

/** The request as its task shows it, without credentials. */
export function shownRequest({ input, storage, outputs, ...others }: TranscodeRequest): Record<string, unknown> {
  const { profiles, targetSegmentSizeSecs, creatorId } = others;
  return {
    "transcode-file": {
      input: { url: "url" in input ? withoutQuery(input.url) : `${maskedAddress(input)}/${keyOf(input.path)}` },
      storage: { url: maskedAddress(storage) },
      outputs: Object.fromEntries(
        Object.entries(outputs).map(([name, { path }]) => [name, { path: `/${keyOf(path)}` }]),
      ),
      ...(profiles && { profiles }),
      ...(targetSegmentSizeSecs !== undefined && { targetSegmentSizeSecs }),
      ...(creatorId !== undefined && {
        creatorId: typeof creatorId === "string" ? { type: "unverified", value: creatorId } : creatorId,
      }),
    },
  };
}

function maskedAddress({
  endpoint,
  bucket,
}: Pick<Extract<TranscodeInput, { type: "s3" }>, "endpoint" | "bucket">): string {
  const { protocol, host, pathname } = new URL(endpoint);
  return `s3+${protocol}//***:***@${host}${pathname.replace(/\/$/, "")}/${bucket}`;
}
