import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { clientOf, plainAddress } from "../limits/client.ts";

/** The sender and the address of a request, as the request tells them. */
type Request = Pick<IncomingMessage, "headers" | "socket">;

const MAX_HOPS = 20;

/**
 * The proxies in front of this server. The headers about a request's way (`X-Forwarded-For`, `-Proto`, `-Host`) counts only where one of
 * them said it; without any, the address is that of the connection.
 */
export class TrustedProxies {
  readonly #list = new BlockList();
  /** Nothing in front is trusted. */
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

  has(address: string): boolean {
    if (this.isEmpty) return false;
    const plain = plainAddress(address);
    const family = isIP(plain);
    return family !== 0 && this.#list.check(plain, family === 6 ? "ipv6" : "ipv4");
  }

  /** Of who sent the request: the last address on its way that is no trusted proxy. */
  addressOf({ headers, socket }: Request): string {
    let address = plainAddress(socket.remoteAddress ?? "");
    if (this.isEmpty || !this.has(address)) return address;
    const hops = String(headers["x-forwarded-for"] ?? "")
      .split(",")
      .slice(-MAX_HOPS);
    for (const hop of hops.reverse()) {
      const named = plainAddress(hop.trim());
      // What is no address was made up, or hides one: the last that is known counts.
      if (isIP(named) === 0) return address;
      address = named;
      if (!this.has(address)) return address;
    }
    return address;
  }

  /** The client that limits are counted for. */
  clientOf(request: Request): string {
    return clientOf(this.addressOf(request));
  }

  /** The host that was asked for, as the nearest proxy tells it where it is trusted. */
  hostOf(request: Request): string {
    return this.#told(request, "x-forwarded-host") ?? request.headers.host ?? "";
  }

  /** Whether the request came by TLS, to the nearest proxy or to this server. */
  isSecure(request: Request): boolean {
    return this.isSecureByProxy(request) || ("encrypted" in request.socket && request.socket.encrypted === true);
  }

  /** Whether it came by TLS to the nearest proxy, which answers for all ports of its host. */
  isSecureByProxy(request: Request): boolean {
    return this.#told(request, "x-forwarded-proto")?.toLowerCase() === "https";
  }

  #told({ headers, socket }: Request, name: string): string | undefined {
    if (this.isEmpty || !this.has(socket.remoteAddress ?? "")) return undefined;
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
