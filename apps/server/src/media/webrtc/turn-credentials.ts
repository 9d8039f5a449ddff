import { createHmac } from "node:crypto";
import type { Clock } from "../../platform/clock.ts";
import type { Secret } from "../../platform/secret.ts";

/** Long enough to connect; a TURN server does not end what it has allowed. */
const VALID_SECONDS = 600;
/** Characters of the name that a client has at the TURN server. */
const NAME_LENGTH = 16;

/** As `RTCConfiguration.iceServers` of browsers wants it. */
export interface IceServer {
  readonly urls: readonly string[];
  readonly username: string;
  readonly credential: string;
}

export interface TurnSettings {
  readonly clock: Clock;
  readonly urls: readonly string[];
  /** The secret that the TURN servers share with this server. */
  readonly secret: Secret;
}

/** Makes the credentials by which a client uses the operator's TURN servers for ten minutes (draft-uberti-behave-turn-rest-00). */
export class TurnCredentials {
  readonly #settings: TurnSettings;

  constructor(settings: TurnSettings) {
    this.#settings = settings;
  }

  /**
   * The name is the same whenever a client asks, so that a TURN server's quota per user is one per client; it does not tell the client's address.
   */
  iceServer(client: string): IceServer {
    const { clock, urls, secret } = this.#settings;
    const key = secret.reveal();
    const name = createHmac("sha256", key).update(client).digest("base64url").slice(0, NAME_LENGTH);
    const username = `${Math.floor(clock.now() / 1000) + VALID_SECONDS}:${name}`;
    return { urls, username, credential: createHmac("sha1", key).update(username).digest("base64") };
  }
}

/** Values of the `Link` header (RFC 9725 4.6). */
export const iceServerLinks = ({ urls, username, credential }: IceServer): string[] =>
  urls.map(
    (url) =>
      `<${url}>; rel="ice-server"; username="${username}"; credential="${credential}"; credential-type="password"`,
  );
