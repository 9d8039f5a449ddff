import type { IncomingMessage } from "node:http";
import type { TrustedProxies } from "../../platform/http/trusted-proxies.ts";
import type { ViewerDetails } from "../../ports.ts";
import type { MediaAddress } from "./hls/media-address.ts";

/** Referers of whole pages' state are of no use to anybody. */
const MAX_TEXT = 2000;

/** Who asks, as a customer's webhook is told: without query, and without the token of an address. */
export function viewerDetails(
  req: IncomingMessage,
  url: string,
  address: MediaAddress,
  proxies: TrustedProxies,
): ViewerDetails {
  const { headers } = req;
  const host = proxies.hostOf(req);
  const [path = ""] = url.split("?", 1);
  const shown = address.kind === "file" ? path.replace(`/s/${address.token}/`, "/s/-/") : path;
  return {
    protocol: address.kind === "mp4" ? "mp4" : "hls",
    address: proxies.addressOf(req),
    url: `${proxies.isSecure(req) ? "https" : "http"}://${host}${shown}`,
    host,
    userAgent: (headers["user-agent"] ?? "").slice(0, MAX_TEXT),
    referer: (headers.referer ?? "").slice(0, MAX_TEXT),
    origin: headers.origin?.slice(0, MAX_TEXT) ?? null,
  };
}
