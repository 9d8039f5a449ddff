import type { NewExport } from "@weir/contract";
import { BadRequest, NotImplemented, RefusedUrl } from "../api/index.ts";
import { withoutQuery } from "../tasks/index.ts";

/** A request that can be sent. */
export interface ExportRequest {
  readonly url: string;
  readonly method: "PUT" | "POST";
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_HEADERS = 50;
const MAX_HEADER_BYTES = 8 * 1024;
/** RFC 9110, 5.6.2 and 5.5. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that describe the transfer. Weir sets them. */
const OURS =
  /^(accept-encoding|connection|content-length|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** Throws `ApiError` for a valid body that cannot be carried out. `refusalOf` returns the reason why Weir does not call a URL. */
export function checkExport({ custom, ipfs }: NewExport, refusalOf: (url: string) => string | null): ExportRequest {
  if (ipfs !== undefined)
    throw new NotImplemented("this server exports nothing to IPFS: name an address of your own in custom.url");
  if (!custom) throw new BadRequest("the body names no place to export to: send custom with a url");
  const refusal = refusalOf(custom.url);
  if (refusal !== null) throw new RefusedUrl("files cannot be exported to this url", refusal);
  const method = (custom.method ?? "PUT").toUpperCase();
  if (method !== "PUT" && method !== "POST") throw new BadRequest("custom.method must be PUT or POST");
  return { url: custom.url, method, headers: checkHeaders(custom.headers ?? {}) };
}

/** No error contains a value: it may be a secret in the wrong place. */
function checkHeaders(given: Readonly<Record<string, string>>): ExportRequest["headers"] {
  const headers = new Map<string, string>();
  let bytes = 0;
  for (const [written, value] of Object.entries(given)) {
    const name = written.toLowerCase();
    if (!NAME.test(name)) throw new BadRequest("custom.headers has a name that no header can have");
    if (!VALUE.test(value)) throw new BadRequest(`custom.headers.${name} holds characters that no header may have`);
    if (OURS.test(name)) throw new BadRequest(`custom.headers must not set ${name}: Weir sets it`);
    if (headers.has(name)) throw new BadRequest(`custom.headers names ${name} twice`);
    headers.set(name, value);
    bytes += name.length + value.length;
  }
  if (headers.size > MAX_HEADERS || bytes > MAX_HEADER_BYTES)
    throw new BadRequest(`custom.headers may have ${MAX_HEADERS} headers of ${MAX_HEADER_BYTES / 1024} KiB together`);
  return Object.fromEntries(headers);
}

/** The request as its task shows it: without header values, and without the query, which may be a signature. */
export function shownExport({ url, method, headers }: ExportRequest): Record<string, unknown> {
  const masked = Object.fromEntries(Object.keys(headers).map((name) => [name, "***"]));
  return { export: { custom: { url: withoutQuery(url), method, headers: masked } } };
}
