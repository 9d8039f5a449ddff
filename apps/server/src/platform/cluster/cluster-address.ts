import { isIP } from "node:net";
import type { Kind } from "../setting-kinds.ts";

const DEFAULT_PORT = 8090;

/** Where nodes reach each other. */
export interface ClusterAddress {
  /** An IP address; null: the one by which this process reaches the database. */
  readonly host: string | null;
  readonly port: number;
}

/** As a setting. No name, so that the listener is on one address; none for all addresses, which is no place to reach. */
export const clusterAddress: Kind<string> = {
  allowed: "an IP address with a port such as 10.0.0.5:8090, or auto",
  parse: (text) => (text === "auto" || parse(text) ? text : undefined),
};

/** From the setting. */
export function readClusterAddress(text: string): ClusterAddress {
  return parse(text) ?? { host: null, port: DEFAULT_PORT };
}

export const writeClusterAddress = (host: string, port: number): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;

const LOCAL = "unix:";

/** Of a process that others on its machine alone reach: the path of a Unix socket. */
export const writeLocalAddress = (path: string): string => LOCAL + path;

/** Where to connect to a node; null for anything but an address with a port, or a Unix socket. */
export function placeOfAddress(
  text: string,
): { readonly host: string; readonly port: number } | { readonly socketPath: string } | null {
  return text.startsWith(LOCAL) ? { socketPath: text.slice(LOCAL.length) } : parse(text);
}

/** Null for anything but an address and a port. */
function parse(text: string): { readonly host: string; readonly port: number } | null {
  const [, v6, v4, digits] = /^(?:\[([0-9a-f:.]+)\]|([\d.]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = v6 ?? v4 ?? "";
  const port = Number(digits);
  const isSpecific = isIP(host) !== 0 && host !== "0.0.0.0" && !/^[0:]+$/.test(host);
  return isSpecific && port <= 65_535 ? { host, port } : null;
}
