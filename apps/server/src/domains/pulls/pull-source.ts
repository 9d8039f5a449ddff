import type { Pull } from "@weir/contract";
import { type Outbound, PULL } from "../../platform/outbound/outbound.ts";
import { BadRequest, NotImplemented, RefusedUrl } from "../api/index.ts";

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
/** What an SRT address names as secrets. */
const SRT_SECRETS = /([?&](?:streamid|passphrase)=)[^&]*/gi;
/** User name and password, up to the last @ before the path. */
const CREDENTIALS = /^([a-z]+:\/\/)[^/?#\\]*@/i;

/** Throws if this server does not pull from the source. */
export function checkPull({ source, headers = {} }: Pull, outbound: Pick<Outbound, "refusalOf">): void {
  const refusal = outbound.refusalOf(source, PULL);
  if (refusal !== null) throw new RefusedUrl("streams cannot be pulled from this source", refusal);
  if (!/^(https?|srt|rtsps?):/i.test(source))
    throw new NotImplemented(
      "this server pulls HLS and MPEG-TS over http:// and https://, MPEG-TS over srt://, and cameras over rtsp:// and rtsps://: let the camera or encoder publish to the stream instead",
    );
  if (
    CREDENTIALS.exec(source)?.[0].includes(HIDDEN) ||
    srtSecretsOf(source).some((part) => part.endsWith(`=${HIDDEN}`))
  )
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

const srtSecretsOf = (source: string): readonly string[] =>
  /^srt:/i.test(source) ? (source.match(SRT_SECRETS) ?? []) : [];

function hideSource(source: string): string {
  const hidden = source.replace(CREDENTIALS, `$1${HIDDEN}:${HIDDEN}@`);
  return /^srt:/i.test(source) ? hidden.replaceAll(SRT_SECRETS, `$1${HIDDEN}`) : hidden;
}

/** As it is shown: without user name, password, the stream id and passphrase of SRT, and the values of headers. */
export function hidePull({ source, headers, ...rest }: Pull): Pull {
  return {
    source: hideSource(source),
    ...(headers && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, HIDDEN])) }),
    ...rest,
  };
}
