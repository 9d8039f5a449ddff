import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** Where an address from a customer lies: on the public internet, in a closed network, or nowhere. */
export type AddressReach = "public" | "private" | "never";

/** Ranges of closed networks. Carrier-grade NAT is RFC 6598. */
const PRIVATE_RANGES = new Set(["loopback", "private", "linkLocal", "uniqueLocal", "carrierGradeNat"]);

/** An IPv4-mapped address (RFC 4291 2.5.5.2) counts as IPv4. NAT64, 6to4 and Teredo count as nowhere, because they hide the real address. */
export function reachOf(address: string): AddressReach {
  if (!ipaddr.isValid(address)) return "never";
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  // Of IPv6, only 2000::/3 is assigned (RFC 4291, 2.4); the rest contains old spellings of IPv4 addresses.
  if (range === "unicast") return "parts" in parsed && (parsed.parts[0] ?? 0) >> 13 !== 1 ? "never" : "public";
  return PRIVATE_RANGES.has(range) ? "private" : "never";
}

/** Whether the address belongs to this machine. */
export function isOfThisMachine(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const wanted = ipaddr.process(address);
  if (wanted.range() === "loopback") return true;
  const text = wanted.toString();
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((own) => ipaddr.isValid(own.address) && ipaddr.process(own.address).toString() === text),
  );
}
