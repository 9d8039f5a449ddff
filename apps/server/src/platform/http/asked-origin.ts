import { isIP } from "node:net";

/** A host name, IPv4 address or bracketed IPv6 address, with or without a port. */
const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9])?)(:\d{1,5})?$/i;

/**
 * The base URL that a request was sent to, such as `https://video.example.com:8443`; null if its host cannot be part of a URL to hand out.
 * `host` and `protocol` come from the client or a trusted proxy, and can be any text.
 */
export function askedOrigin({ host, protocol }: { readonly host: string; readonly protocol: string }): string | null {
  if (!HOST.test(host)) return null;
  const url = URL.parse(`${protocol === "https" ? "https" : "http"}://${host}`);
  if (!url || url.port === "0") return null;
  // `127.1` and `0x7f000001` are spellings that a reader takes for another address.
  if (isIP(url.hostname) === 4 && !host.startsWith(url.hostname)) return null;
  return url.origin;
}
