import ipaddr from "ipaddr.js";

/**
 * The client for limits: an IPv4 address, or the /64 of an IPv6 address, because every customer of a network has at least one whole /64. An
 * IPv4-mapped address (`::ffff:1.2.3.4`) counts as IPv4. Text that is not an address is a client of its own.
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

/** The address only: without the port and brackets that some proxies write, and with an IPv4-mapped address as IPv4. */
export function plainAddress(text: string): string {
  const address = V4_AND_PORT.exec(text)?.[1] ?? V6_IN_BRACKETS.exec(text)?.[1] ?? text;
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}
