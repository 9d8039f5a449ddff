import { isIPv6 } from "node:net";

/** AF_INET6 differs between operating systems. */
const FAMILY = { inet: 2, inet6: process.platform === "darwin" ? 30 : 10 };
/** Of `sockaddr_in6`, the larger one. */
export const SOCKET_NAME_BYTES = 28;

/** A `sockaddr_in` or `sockaddr_in6`. */
export function socketName(address: string, port: number): Buffer {
  const is6 = isIPv6(address);
  const name = Buffer.alloc(is6 ? SOCKET_NAME_BYTES : 16);
  const family = is6 ? FAMILY.inet6 : FAMILY.inet;
  if (process.platform === "darwin") name.writeUInt16BE((name.length << 8) | family);
  else name.writeUInt16LE(family);
  name.writeUInt16BE(port, 2);
  if (is6) for (const [index, group] of groupsOf(address).entries()) name.writeUInt16BE(group, 8 + 2 * index);
  else name.set(address.split(".").map(Number), 4);
  return name;
}

/** The address in a `sockaddr_in` or `sockaddr_in6`; an IPv4-mapped one as IPv4. */
export function addressIn(name: Buffer): string {
  const family = process.platform === "darwin" ? name.readUInt8(1) : name.readUInt16LE();
  if (family === FAMILY.inet) return [...name.subarray(4, 8)].join(".");
  const groups = Array.from({ length: 8 }, (_, index) => name.readUInt16BE(8 + 2 * index));
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [...name.subarray(20, 24)].join(".");
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(1, -1);
}

/** The eight groups of an IPv6 address in any notation. */
function groupsOf(address: string): number[] {
  const { hostname } = new URL(`http://[${address}]`);
  const [left = [], right = []] = hostname
    .slice(1, -1)
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":")));
  const missing = Array.from({ length: 8 - left.length - right.length }, () => "0");
  return [...left, ...missing, ...right].map((group) => Number.parseInt(group, 16));
}
