import { BlockList, isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { networkOf } from "../http/trusted-proxies.ts";

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

/** Whether an address is in one of these networks, such as `10.0.0.0/8`; undefined without a network. */
export function isInNetworks(networks: readonly string[]): ((address: string) => boolean) | undefined {
  if (networks.length === 0) return undefined;
  const list = new BlockList();
  for (const text of networks) {
    const network = networkOf(text);
    if (!network) throw new TypeError(`${JSON.stringify(text)} is neither an address nor a network`);
    list.addSubnet(network.address, network.bits, network.family);
  }
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const plain = ipaddr.process(address).toString();
    return list.check(plain, isIP(plain) === 6 ? "ipv6" : "ipv4");
  };
}
