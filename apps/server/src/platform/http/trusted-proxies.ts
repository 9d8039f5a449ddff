import type { IncomingMessage } from "node:http";
import { BlockList, isIP, type Socket } from "node:net";
import { clientOf, plainAddress } from "../limits/client.ts";

/** The sender and URL of a request, as the request states them. */
type Request = Pick<IncomingMessage, "headers" | "socket">;

const MAX_HOPS = 20;

/**
 * The trusted proxies in front of this server. Headers about a request's route (`X-Forwarded-For`, `-Proto`, `-Host`) count only if one of them
 * set them; otherwise the address is that of the connection.
 */
export class TrustedProxies {
  readonly #list = new BlockList();
  /** Connections of other nodes of this server, each of whose requests was verified. Null until there is one. */
  #nodes: WeakSet<Socket> | null = null;
  /** No proxy is trusted. */
  readonly isEmpty: boolean;

  /** `networks` are addresses, or networks such as `10.0.0.0/8`. Throws for anything else. */
  constructor(networks: readonly string[]) {
    this.isEmpty = networks.length === 0;
    for (const text of networks) {
      const network = networkOf(text);
      if (!network) throw new TypeError(`${JSON.stringify(text)} is neither an address nor a network`);
      this.#list.addSubnet(network.address, network.bits, network.family);
    }
  }

  /** Another node of this server has opened this connection, and tells the truth about the routes of requests. */
  trust(node: Socket): void {
    this.#nodes ??= new WeakSet();
    this.#nodes.add(node);
  }

  /** The connection, if all its requests come from one client. */
  connectionOf({ socket }: Request): Socket | null {
    return this.isEmpty && !this.#isNode(socket) ? socket : null;
  }

  has(address: string): boolean {
    if (this.isEmpty) return false;
    const plain = plainAddress(address);
    const family = isIP(plain);
    return family !== 0 && this.#list.check(plain, family === 6 ? "ipv6" : "ipv4");
  }

  /** The address of the sender: the last address on the route that is not a trusted proxy. */
  addressOf({ headers, socket }: Request): string {
    let address = plainAddress(socket.remoteAddress ?? "");
    if (!this.#isNode(socket) && !this.has(address)) return address;
    const hops = String(headers["x-forwarded-for"] ?? "")
      .split(",")
      .slice(-MAX_HOPS);
    for (const hop of hops.reverse()) {
      const named = plainAddress(hop.trim());
      // An invalid address was made up, or hides one; use the last known address.
      if (isIP(named) === 0) return address;
      address = named;
      if (!this.has(address)) return address;
    }
    return address;
  }

  /** The client for limits. */
  clientOf(request: Request): string {
    return clientOf(this.addressOf(request));
  }

  /** The requested host, as reported by the nearest proxy if it is trusted. */
  hostOf(request: Request): string {
    return this.#told(request, "x-forwarded-host") ?? request.headers.host ?? "";
  }

  /** Whether the request arrived by TLS, at the nearest proxy or at this server. */
  isSecure(request: Request): boolean {
    return this.isSecureByProxy(request) || ("encrypted" in request.socket && request.socket.encrypted === true);
  }

  /** Whether it arrived by TLS at the nearest proxy, which serves all ports of its host. */
  isSecureByProxy(request: Request): boolean {
    return this.#told(request, "x-forwarded-proto")?.toLowerCase() === "https";
  }

  #isNode(socket: Socket): boolean {
    return this.#nodes?.has(socket) === true;
  }

  #told({ headers, socket }: Request, name: string): string | undefined {
    if (!this.#isNode(socket) && !this.has(socket.remoteAddress ?? "")) return undefined;
    return (
      String(headers[name] ?? "")
        .split(",")
        .at(-1)
        ?.trim() || undefined
    );
  }
}

interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: "ipv4" | "ipv6";
}

/** `10.0.0.0/8`, or one address; undefined for anything else. */
export function networkOf(text: string): Network | undefined {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  if (family === 0 || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined;
  const length = bits === undefined ? most : Number(bits);
  return length <= most ? { address, bits: length, family: family === 6 ? "ipv6" : "ipv4" } : undefined;
}
