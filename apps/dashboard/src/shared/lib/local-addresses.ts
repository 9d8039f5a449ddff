type Here = Pick<Location, "hostname" | "origin">;

/**
 * An address as this browser can use it. A server without a public address may name itself `localhost`; a browser on another
 * machine then reaches it by the host of this page.
 */
export function reachableAddress(address: string, here: Here): string {
  const host = address.match(/^[a-z]+:\/\/(\[[^\]]+\]|[^:/]+)/)?.[1];
  if (host === undefined || !isLoopback(host) || isLoopback(here.hostname)) return address;
  if (/^https?:/.test(address)) return here.origin + address.replace(/^https?:\/\/[^/]+/, "");
  return address.replace(host, here.hostname);
}

export function isLoopback(host: string): boolean {
  return /^(localhost$|127\.|\[::1\])/.test(host);
}
