import type { Pull } from "@weir/contract";
import { type Outbound, PULL } from "../../platform/outbound/outbound.ts";
import { BadRequest, RefusedUrl } from "../api/index.ts";

const HIDDEN = "***";
const MAX_HEADERS = 20;
const MAX_HEADER = 4096;
/** A token (RFC 9110 5.6.2). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** They say how a request is sent, which is the server's own affair. */
const OWN_HEADERS = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "range",
  "te",
  "transfer-encoding",
  "upgrade",
]);
/** What an SRT address names as secrets. Of other schemes all values may be. */
const SRT_SECRET = /^(streamid|passphrase)$/i;
/** Nobody's secret is so short: channel and quality of a camera. */
const NO_SECRET = /^\d{0,2}$/;
/** The stream's name, which is often its key. */
const RTMP_NAME = /^(rtmps?:\/\/.*\/)[^/]*$/i;
const RTMP_PLACE = /^rtmps?:\/\/[^/?]+\/[^?]*\/[^/?]+(\?|$)/i;
/** User name and password, up to the last @ before the path. */
const CREDENTIALS = /^([a-z]+:\/\/)[^/?#\\]*@/i;

/** Throws if this server does not pull from the source. */
export function checkPull({ source, headers = {} }: Pull, outbound: Pick<Outbound, "refusalOf">): void {
  const refusal = outbound.refusalOf(source, PULL);
  if (refusal !== null) throw new RefusedUrl("streams cannot be pulled from this source", refusal);
  if (/^rtmps?:/i.test(source) && (CREDENTIALS.test(source) || !RTMP_PLACE.test(source)))
    throw new BadRequest(
      "an RTMP source is rtmp://host/application/name, without user name and password: put what the server wants into the query",
    );
  if (source.includes(HIDDEN))
    throw new BadRequest("pull.source has the hidden secrets of an answer: send the real ones");
  const given = Object.entries(headers);
  if (given.length > MAX_HEADERS) throw new BadRequest(`pull.headers may have ${MAX_HEADERS} headers`);
  for (const [name, value] of given) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value) || value.length > MAX_HEADER)
      throw new BadRequest(`pull.headers: ${JSON.stringify(name)} is no header that can be sent`);
    if (OWN_HEADERS.has(name.toLowerCase())) throw new BadRequest(`pull.headers: ${name} is set by the server`);
    if (value === HIDDEN)
      throw new BadRequest(`pull.headers: ${name} has the hidden value of an answer: send the real one`);
  }
}

function hideSource(source: string): string {
  const [place = ""] = source.split(/[?#]/, 1);
  const query = source.slice(place.length);
  const mark = query.slice(0, 1);
  const parts = query
    .slice(1)
    .split("&")
    .map((part) => hidePart(part, /^srt:/i.test(source)));
  return `${place.replace(CREDENTIALS, `$1${HIDDEN}:${HIDDEN}@`).replace(RTMP_NAME, `$1${HIDDEN}`)}${mark}${parts.join("&")}`;
}

/** One `name=value` of a query. */
function hidePart(part: string, isSrt: boolean): string {
  const name = part.slice(0, part.indexOf("=") + 1);
  const isOpen = isSrt ? !SRT_SECRET.test(name.slice(0, -1)) : NO_SECRET.test(part.slice(name.length));
  return isOpen ? part : name + HIDDEN;
}

/** As it is shown: without user name, password, the values of the query, the stream id and passphrase of SRT, the stream name of RTMP, and the values of headers. */
export function hidePull({ source, headers, ...rest }: Pull): Pull {
  return {
    source: hideSource(source),
    ...(headers && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN])) }),
    ...rest,
  };
}
