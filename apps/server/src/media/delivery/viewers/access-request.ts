import type { IncomingMessage } from "node:http";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { OWNER_TOKEN_PREFIX, type ViewerDetails } from "../../../ports/index.ts";

/** Kept with each of thousands of viewers; nobody needs more of a browser's name or a page's address. */
const MAX_TEXT = 500;
/** A DNS name and a port. */
const MAX_HOST = 260;

/** A request to watch, whatever protocol answers it. */
export interface AccessRequest {
  readonly req: IncomingMessage;
  /** The viewer's, also where an edge asks in their stead. */
  readonly url: string;
  readonly playbackId: string;
  readonly protocol: ViewerDetails["protocol"];
  /** Of the viewer session that the address belongs to; null where the address names nobody. */
  readonly token: string | null;
  /**
   * `open` asks to be let in, and its answer holds for everything that follows from it: a multivariant playlist, the beginning of an MP4.
   * `follow` comes from a player that was let in: a media playlist, another range of an MP4.
   * `media` has an address that is the same for all viewers: segments, parts.
   */
  readonly step: "open" | "follow" | "media";
}

/** The viewer, as a customer's webhook is told: without query, and without the token of an address. */
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

/** The beginning of a header by itself: a slice would keep the whole of it in memory. */
const beginningOf = (header: string, length = MAX_TEXT): string =>
  Buffer.from(header.slice(0, length), "latin1").toString("latin1");

const ORIGIN = /^[a-z]+:\/\/[^/?#]{1,300}/i;

/** A request's origin as far as it is known without credentials: by that alone may answers differ. */
export function originKey({ req: { headers }, playbackId }: AccessRequest): string {
  const { origin = "", referer = "" } = headers;
  return `${playbackId} ${origin.slice(0, 300)} ${ORIGIN.exec(referer)?.[0] ?? ""}`;
}

/** Whether an owner asks: for their preview, which counts as nobody, an answer that is kept for all viewers is none. */
export function isByOwner({ url, step }: AccessRequest): boolean {
  return step === "open" && url.includes(`jwt=${OWNER_TOKEN_PREFIX}`);
}

const TKN = /[?&]tkn=([\w-]{1,64})(?:&|$)/;

/** The id that a public player gives itself. */
export function tknOf(url: string): string | null {
  return url.includes("tkn=") ? (TKN.exec(url)?.[1] ?? null) : null;
}
