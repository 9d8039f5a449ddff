import type { IncomingMessage } from "node:http";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import type { ViewerDetails } from "../../../ports/index.ts";
import type { AccessRequest, PlaybackAddress, PlaybackCredentials, Step } from "../front/access-request.ts";
import type { GivenAdmission } from "../front/given-admission.ts";
import { readCredentials } from "./playback-credentials.ts";

/** Stored for each of thousands of viewers; user agents and referrers need no more. */
const MAX_TEXT = 500;
/** A DNS name and a port. */
const MAX_HOST = 260;

/** A request to watch that came by HTTP. */
export class HttpAccess<Address extends PlaybackAddress = PlaybackAddress> implements AccessRequest {
  readonly req: IncomingMessage;
  readonly url: string;
  readonly address: Address;
  readonly given: GivenAdmission | null;
  readonly #proxies: TrustedProxies;

  constructor(
    req: IncomingMessage,
    url: string,
    address: Address,
    proxies: TrustedProxies,
    given: GivenAdmission | null = null,
  ) {
    this.req = req;
    this.url = url;
    this.address = address;
    this.given = given;
    this.#proxies = proxies;
  }

  get step(): Step {
    const { step } = this.address;
    if (step !== "file") return step;
    const { range } = this.req.headers;
    return !range || range.startsWith("bytes=0-") ? "open" : "follow";
  }

  get isProbe(): boolean {
    return this.req.method === "HEAD";
  }

  get connection(): object | null {
    return this.#proxies.connectionOf(this.req);
  }

  get remoteAddress(): string {
    return this.#proxies.addressOf(this.req);
  }

  get client(): string {
    return this.#proxies.clientOf(this.req);
  }

  get userAgent(): string {
    return this.req.headers["user-agent"] ?? "";
  }

  get referer(): string {
    return this.req.headers.referer ?? "";
  }

  get origin(): string | null {
    return this.req.headers.origin ?? null;
  }

  credentials(): PlaybackCredentials | "invalid" {
    return readCredentials(this.req, this.url);
  }

  details(): ViewerDetails {
    const { req, url, address, origin } = this;
    const host = beginningOf(this.#proxies.hostOf(req), MAX_HOST);
    const [path = ""] = url.split("?", 1);
    const shown = address.token === null ? path : path.replace(`/s/${address.token}/`, "/s/-/");
    return {
      protocol: address.protocol,
      address: this.remoteAddress,
      url: `${this.#proxies.isSecure(req) ? "https" : "http"}://${host}${shown}`,
      host,
      userAgent: beginningOf(this.userAgent),
      referer: beginningOf(this.referer),
      origin: origin === null ? null : beginningOf(origin),
    };
  }
}

/** Copies the first characters of a header: a slice would keep the whole string in memory. */
const beginningOf = (header: string, length = MAX_TEXT): string =>
  Buffer.from(header.slice(0, length), "latin1").toString("latin1");
