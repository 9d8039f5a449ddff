import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** Where an address that a customer gave us lies: anywhere in the open, inside a closed network, or nowhere. */
export type AddressReach = "public" | "private" | "never";

/** Ranges that a closed network is made of. Carrier-grade NAT is RFC 6598. */
const PRIVATE_RANGES = new Set(["loopback", "private", "linkLocal", "uniqueLocal", "carrierGradeNat"]);

/** An address inside an IPv6 one (mapped, RFC 4291 2.5.5.2) counts as itself; NAT64, 6to4 and Teredo lead nowhere, as they hide theirs. */
export function reachOf(address: string): AddressReach {
  if (!ipaddr.isValid(address)) return "never";
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  // Of IPv6 only 2000::/3 is given out (RFC 4291, 2.4): the rest holds old ways to write an IPv4 address.
  if (range === "unicast") return "parts" in parsed && (parsed.parts[0] ?? 0) >> 13 !== 1 ? "never" : "public";
  return PRIVATE_RANGES.has(range) ? "private" : "never";
}

/** Whether the address is one of this machine's. */
export function isOfThisMachine(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const wanted = ipaddr.process(address);
  if (wanted.range() === "loopback") return true;
  const text = wanted.toString();
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some((own) => ipaddr.isValid(own.address) && ipaddr.process(own.address).toString() === text),
  );
}
