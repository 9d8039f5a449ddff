import { isIP } from "node:net";
import { reachOf } from "./outbound-address.ts";

/**
 * Ports that no customer's URL may use: those that browsers refuse (WHATWG Fetch, "bad port"), and those of databases, queues and control
 * planes, which accept commands from whoever connects.
 */
const DENIED_PORTS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531,
  532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376,
  2379, 2380, 3306, 3659, 4045, 4190, 4222, 5060, 5061, 5432, 5672, 5984, 6000, 6379, 6443, 6566, 6665, 6666, 6667,
  6668, 6669, 6679, 6697, 8500, 9042, 9092, 9200, 9300, 10080, 10250, 11211, 11434, 27017,
]);

const MAX_URL = 2048;

/**
 * Names that never lead to the public internet: RFC 6761 (localhost), RFC 6762 (local), RFC 8375 (home.arpa), ICANN's internal, and those of
 * Linux hosts files.
 */
const LOCAL_NAME = /^((.*\.)?(localhost|localdomain|local|internal|home\.arpa)|ip6-localhost|ip6-loopback)$/;

const THIS_MACHINE = /^((.*\.)?localhost|localhost\.localdomain|ip6-localhost|ip6-loopback)$/;

/** The purpose of a customer's URL: the allowed schemes, each with its default port. */
export interface UrlPurpose {
  readonly ports: Readonly<Record<string, number>>;
  /** As used in a sentence. */
  readonly schemes: string;
  readonly mayNameUser: boolean;
  /** It may also lead into the private networks that the operator has opened for pulls. */
  readonly entersOpenNetworks?: true;
}

/** Webhooks and access webhooks. */
export const CALL: UrlPurpose = {
  ports: { http: 80, https: 443 },
  schemes: "http:// or https://",
  mayNameUser: false,
};
/** Multistream targets. */
export const FORWARD: UrlPurpose = {
  ports: { rtmp: 1935, rtmps: 443, srt: 0 },
  schemes: "srt://, rtmp:// or rtmps://",
  mayNameUser: true,
};
/** Pull sources. */
export const PULL: UrlPurpose = {
  ports: { http: 80, https: 443, rtmp: 1935, rtmps: 443, srt: 0, rtsp: 554, rtsps: 322 },
  schemes: "http://, https://, rtmp://, rtmps://, srt:// or rtsp://",
  mayNameUser: true,
  entersOpenNetworks: true,
};

/** Names the setting, because most of its readers try a receiver on their own machine. */
export const PRIVATE_ADDRESS =
  "Weir does not call private addresses such as localhost, so that nobody reaches the server's own network through it; on a test server, set WEIR_ALLOW_PRIVATE_URLS=1";
/** Of pulls, for which single networks can be opened. */
const PRIVATE_SOURCE =
  "Weir pulls from a private address only if its network is listed in WEIR_PULL_NETWORKS; ask the operator of this server";
const OWN_ADDRESS = "it leads back to this server";

export interface UrlRules {
  /** Loopback, private and link-local addresses are allowed, for tests and closed networks. */
  readonly allowPrivate: boolean;
  /** Whether the operator has opened the private network of this address to the URL's purpose. Absent where none is opened. */
  readonly isOpen?: ((address: string) => boolean) | undefined;
  /** `host:port` of this server's own listeners, as people know them. */
  readonly ownHosts: readonly string[];
  /** The ports of its listeners, which every local name reaches. */
  readonly ownPorts?: readonly number[];
}

/** The objection to a URL from its text alone, as a sentence; null if only the resolved addresses remain to be checked. */
export function refusalOfUrl(
  text: string,
  { allowPrivate, isOpen, ownHosts, ownPorts = [] }: UrlRules,
  purpose = CALL,
): string | null {
  const place = placeOf(text, purpose);
  if (place === null) return `it is not an ${purpose.schemes} address`;
  const { url, host, port, ownPort } = place;
  if (!purpose.mayNameUser && (url.username || url.password)) return "it must not hold a user name or password";
  if (host.endsWith(".")) return "its host must not end with a dot";
  // `2130706433`, `0x7f.1`, `127.1` and digits of other scripts are spellings that a reader takes for another address.
  const isPlain = text.includes(`//${host}`) || (purpose.mayNameUser && text.includes(`@${host}`));
  if (isIP(host) === 4 && !isPlain) return "its host is an address in an unusual spelling";
  if (DENIED_PORTS.has(port) && port !== ownPort) return `port ${port} is not allowed`;
  if (ownHosts.includes(`${host}:${port}`)) return OWN_ADDRESS;
  if (isIP(host)) return refusalOfAddress(host, allowPrivate || isOpen?.(host) === true, purpose);
  if (!LOCAL_NAME.test(host)) return null;
  if (!allowPrivate && !isOpen) return privateSentence(purpose);
  return THIS_MACHINE.test(host) && ownPorts.includes(port) ? OWN_ADDRESS : null;
}

/** The objection to one resolved address, as a sentence; null if there is none. */
export function refusalOfAddress(address: string, allowPrivate: boolean, purpose = CALL): string | null {
  const reach = reachOf(address);
  if (reach === "public" || (reach === "private" && allowPrivate)) return null;
  return reach === "private" ? privateSentence(purpose) : "its host is an address that calls may not go to";
}

const privateSentence = ({ entersOpenNetworks }: UrlPurpose): string =>
  entersOpenNetworks ? PRIVATE_SOURCE : PRIVATE_ADDRESS;

/** The destination of a URL; null if its purpose does not allow it. */
export function placeOf(text: string, { ports }: UrlPurpose) {
  const [, scheme = "", rest = ""] = (text.length <= MAX_URL && /^([a-z]+):\/\/([^/\\].*)$/is.exec(text)) || [];
  const ownPort = Object.hasOwn(ports, scheme.toLowerCase()) ? ports[scheme.toLowerCase()] : undefined;
  // The parser leaves hosts of other schemes as spelled. Both http and https drop their default port.
  const [url, other] = [URL.parse(`http://${rest}`), URL.parse(`https://${rest}`)];
  if (!url || url.hostname === "" || ownPort === undefined) return null;
  return { url, host: hostOf(url), port: Number(url.port || other?.port) || ownPort, ownPort };
}

/** Without the brackets of IPv6. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, "$1");

export const portOf = (url: URL): number => Number(url.port) || (url.protocol === "https:" ? 443 : 80);
