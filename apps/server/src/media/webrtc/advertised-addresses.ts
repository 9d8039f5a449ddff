import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";

const MAX_ADDRESSES = 8;

/** How clients reach the WebRTC port. */
export interface WebrtcAddress {
  /** The configured addresses; null if they must be detected. */
  readonly addresses: readonly string[] | null;
  readonly host: string;
  readonly port: number;
  /** For clients that come through a TURN server, where there are any. */
  readonly relayedPort?: number | null;
}

/**
 * The addresses at which clients reach this server by UDP: the configured ones, else the address that the request arrived at and those of the
 * machine. Loopback is included only for requests that arrived on it.
 */
export function advertisedAddresses({ addresses, host }: WebrtcAddress, req: IncomingMessage): readonly string[] {
  if (addresses) return addresses;
  const isBoundToOne = host !== "0.0.0.0" && host !== "::";
  if (isBoundToOne && isIP(host)) return [host];
  const found = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address, family }) => !internal && !(family === "IPv6" && /^fe[89ab]/i.test(address)))
    .map(({ address }) => address);
  const local = (req.socket.localAddress ?? "").replace(/^::ffff:/, "");
  return [...new Set([...(isIP(local) ? [local] : []), ...found])].slice(0, MAX_ADDRESSES);
}
