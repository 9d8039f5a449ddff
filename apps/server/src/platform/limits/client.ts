import ipaddr from "ipaddr.js";

/**
 * The client that limits are counted for: an IPv4 address, or the /64 of an IPv6 address, of which one customer of a network has at least
 * one whole. An IPv4 address inside an IPv6 one (`::ffff:1.2.3.4`) counts as what it is. Text that is no address is its own client.
 */
export function clientOf(text: string): string {
  const address = plainAddress(text);
  if (!address.includes(":")) return address;
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

const V4_AND_PORT = /^(\d+\.\d+\.\d+\.\d+):\d+$/;
const V6_IN_BRACKETS = /^\[([\da-f:.]+)\](?::\d+)?$/i;

/** The address alone: without the port and the brackets that some proxies write, and an IPv4 address inside an IPv6 one as what it is. */
export function plainAddress(text: string): string {
  const address = V4_AND_PORT.exec(text)?.[1] ?? V6_IN_BRACKETS.exec(text)?.[1] ?? text;
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}
