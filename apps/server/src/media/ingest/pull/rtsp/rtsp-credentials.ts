import { createHash, randomBytes } from "node:crypto";
import { type Challenge, readChallenges } from "@weir/formats/rtsp";

const HASHES: Readonly<Record<string, string>> = { md5: "md5", "sha-256": "sha256" };
/** Best first. */
const ORDER = ["sha-256", "md5"];

/** User name and password of a source, and the server's challenge that they answer: Digest (RFC 7616), else Basic. */
export class RtspCredentials {
  readonly #user: string;
  readonly #password: string;
  /** A `cnonce`: other each time. */
  readonly #nonce: () => string;
  #challenge: Challenge | null = null;
  #count = 0;

  constructor(
    { username, password }: Pick<URL, "username" | "password">,
    nonce = () => randomBytes(8).toString("hex"),
  ) {
    this.#user = decoded(username);
    this.#password = decoded(password);
    this.#nonce = nonce;
  }

  /** Takes the challenges of an answer 401. False where another try would be the same: the name or password is wrong, or there is none. */
  take(values: readonly string[]): boolean {
    const challenges = readChallenges(values);
    const digests = challenges.filter(({ scheme }) => scheme === "digest");
    const best =
      ORDER.flatMap((name) => digests.filter((one) => algorithmOf(one) === name))[0] ??
      challenges.find(({ scheme }) => scheme === "basic");
    if (!best || (this.#user === "" && this.#password === "")) return false;
    const before = this.#challenge;
    const isStale = best.parameters.get("stale")?.toLowerCase() === "true";
    const isNew = best.parameters.get("nonce") !== before?.parameters.get("nonce");
    this.#challenge = best;
    this.#count = 0;
    return before === null || (isStale && isNew);
  }

  /** The value of `Authorization`; null before the server has asked. */
  answer(method: string, uri: string): string | null {
    const challenge = this.#challenge;
    if (!challenge) return null;
    if (challenge.scheme === "basic")
      return `Basic ${Buffer.from(`${this.#user}:${this.#password}`).toString("base64")}`;
    return this.#digest(challenge, method, uri);
  }

  #digest({ parameters }: Challenge, method: string, uri: string): string {
    const [realm = "", nonce = "", opaque] = ["realm", "nonce", "opaque"].map((name) => parameters.get(name));
    const algorithm = parameters.get("algorithm");
    const hash = (text: string) =>
      createHash(HASHES[(algorithm ?? "md5").toLowerCase()] ?? "md5")
        .update(text)
        .digest("hex");
    const secret = hash(`${this.#user}:${realm}:${this.#password}`);
    const what = hash(`${method}:${uri}`);
    const hasQop = (parameters.get("qop") ?? "").split(",").some((one) => one.trim().toLowerCase() === "auth");
    const count = (++this.#count).toString(16).padStart(8, "0");
    const own = this.#nonce();
    const response = hash(hasQop ? `${secret}:${nonce}:${count}:${own}:auth:${what}` : `${secret}:${nonce}:${what}`);
    const fields = [
      ...Object.entries({ username: this.#user, realm, nonce, uri, response }).map(quoted),
      ...(opaque === undefined ? [] : [quoted(["opaque", opaque])]),
      ...(algorithm === undefined ? [] : [`algorithm=${algorithm.replaceAll(/[^\w-]/g, "")}`]),
      ...(hasQop ? ["qop=auth", `nc=${count}`, quoted(["cnonce", own])] : []),
    ];
    return `Digest ${fields.join(", ")}`;
  }
}

const algorithmOf = ({ parameters }: Challenge): string => (parameters.get("algorithm") ?? "md5").toLowerCase();

const quoted = ([name, value]: readonly [string, string]): string =>
  `${name}="${value.replaceAll(/[\r\n]/g, "").replaceAll(/["\\]/g, "\\$&")}"`;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
