import type { IncomingMessage } from "node:http";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { OWNER_TOKEN_PREFIX, type ViewerDetails } from "../../../ports/index.ts";

/** Stored for each of thousands of viewers; user agents and referrers need no more. */
const MAX_TEXT = 500;
/** A DNS name and a port. */
const MAX_HOST = 260;

/** A request to watch, in any protocol. */
export interface AccessRequest {
  readonly req: IncomingMessage;
  /** The viewer's URL, also when an edge asks on the viewer's behalf. */
  readonly url: string;
  readonly playbackId: string;
  readonly protocol: ViewerDetails["protocol"];
  /** The viewer session token in the URL; null if the URL has none. */
  readonly token: string | null;
  /**
   * `open` requests admission, and the decision applies to everything that follows: a multivariant playlist, the start of an MP4. `follow` comes
   * from an admitted player: a media playlist, another range of an MP4. `media` has the same URL for all viewers: segments, parts.
   */
  readonly step: "open" | "follow" | "media";
}

/** The viewer's details for a customer's webhook, without the query and the token in the URL. */
export function viewerDetails(request: AccessRequest, proxies: TrustedProxies): ViewerDetails {
  const { req, url, token, protocol } = request;
  const { headers } = req;
  const host = beginningOf(proxies.hostOf(req), MAX_HOST);
  const [path = ""] = url.split("?", 1);
  const shown = token === null ? path : path.replace(`/s/${token}/`, "/s/-/");
  return {
    protocol,
    address: proxies.addressOf(req),
    url: `${proxies.isSecure(req) ? "https" : "http"}://${host}${shown}`,
    host,
    userAgent: beginningOf(headers["user-agent"] ?? ""),
    referer: beginningOf(headers.referer ?? ""),
    origin: headers.origin === undefined ? null : beginningOf(headers.origin),
  };
}

/** Copies the first characters of a header: a slice would keep the whole string in memory. */
const beginningOf = (header: string, length = MAX_TEXT): string =>
  Buffer.from(header.slice(0, length), "latin1").toString("latin1");

const ORIGIN = /^[a-z]+:\/\/[^/?#]{1,300}/i;

/** The part of a request's origin that may affect the decision without credentials. */
export function originKey({ req: { headers }, playbackId }: AccessRequest): string {
  const { origin = "", referer = "" } = headers;
  return `${playbackId} ${origin.slice(0, 300)} ${ORIGIN.exec(referer)?.[0] ?? ""}`;
}

/** Whether the owner requests a preview. It counts as no viewer, and must not be answered from the cache for all viewers. */
export function isByOwner({ url, step }: AccessRequest): boolean {
  return step === "open" && url.includes(`jwt=${OWNER_TOKEN_PREFIX}`);
}

const TKN = /[?&]tkn=([\w-]{1,64})(?:&|$)/;

/** The id that a public player assigns to itself. */
export function tknOf(url: string): string | null {
  return url.includes("tkn=") ? (TKN.exec(url)?.[1] ?? null) : null;
}
