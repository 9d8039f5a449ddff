import ipaddr from "ipaddr.js";

/**
 * The client that limits are counted for: an IPv4 address, or the /64 of an IPv6 address, of which one customer of a network has at least
 * one whole. An IPv4 address inside an IPv6 one (`::ffff:1.2.3.4`) counts as what it is. Text that is no address is its own client.
 */
export function clientOf(address: string): string {
  if (!address.includes(":")) return address;
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
