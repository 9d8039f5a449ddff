import type { IncomingMessage } from "node:http";
import type { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import type { ViewerDetails } from "../../ports/index.ts";
import type { MediaAddress } from "./hls/media-address.ts";

/** Kept with each of thousands of viewers; nobody needs more of a browser's name or a page's address. */
const MAX_TEXT = 500;
/** A DNS name and a port. */
const MAX_HOST = 260;

/** The beginning of a header by itself: a slice would keep the whole of it in memory. */
const beginningOf = (header: string, length = MAX_TEXT): string =>
  Buffer.from(header.slice(0, length), "latin1").toString("latin1");

/** Who asks, as a customer's webhook is told: without query, and without the token of an address. */
export function viewerDetails(
  req: IncomingMessage,
  url: string,
  address: MediaAddress,
  proxies: TrustedProxies,
): ViewerDetails {
  const { headers } = req;
  const host = beginningOf(proxies.hostOf(req), MAX_HOST);
  const [path = ""] = url.split("?", 1);
  const shown = address.kind === "file" ? path.replace(`/s/${address.token}/`, "/s/-/") : path;
  return {
    protocol: address.kind === "mp4" ? "mp4" : "hls",
    address: proxies.addressOf(req),
    url: `${proxies.isSecure(req) ? "https" : "http"}://${host}${shown}`,
    host,
    userAgent: beginningOf(headers["user-agent"] ?? ""),
    referer: beginningOf(headers.referer ?? ""),
    origin: headers.origin === undefined ? null : beginningOf(headers.origin),
  };
}
