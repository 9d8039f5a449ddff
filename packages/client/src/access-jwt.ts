/** The claims of a token, and its key. */
export interface AccessJwt {
  /** The private key, as returned when the signing key was created: base64 of the PEM text. Keep it on your server. */
  readonly privateKey: string;
  /** The public key, as in the signing key's record. */
  readonly publicKey: string;
  readonly playbackId: string;
  /** The signer; for your own records. */
  readonly issuer?: string;
  /** How long the token is valid: seconds, or a text such as `45s`, `30m`, `12h`, `7d`. Default one day, maximum seven. */
  readonly expiration?: number | string;
  /** Further claims for your own systems. The holder of the token can read them too. */
  readonly custom?: Readonly<Record<string, unknown>>;
  /** Milliseconds since the Unix epoch; defaults to the current time. */
  readonly now?: number;
}

const DAY = 86_400;
const MAX_DAYS = 7;
const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: DAY } as const;
const DURATION = /^(\d+(?:\.\d+)?) ?(?:(s)(?:ec(?:ond)?s?)?|(m)(?:in(?:ute)?s?)?|(h)(?:(?:ou)?rs?)?|(d)(?:ays?)?)$/;
const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;

/**
 * A token with which its holder can watch this playback id under a `jwt` policy. Send it as the `Service-Jwt` header or the `jwt` query
 * parameter. For Node and anything else with Web Crypto. Throws TypeError for an invalid private key or expiration.
 *
 * @example
 * const { publicKey, privateKey } = await weir.signingKeys.create();
 * const jwt = await signAccessJwt({ privateKey, publicKey, playbackId, issuer: "https://example.com", expiration: "1h" });
 * const playlist = await fetch(`${baseUrl}/hls/${playbackId}/index.m3u8`, { headers: { "Service-Jwt": jwt } });
 */
export async function signAccessJwt(wanted: AccessJwt): Promise<string> {
  const { publicKey, playbackId, issuer = "", expiration = DAY, custom, now = Date.now() } = wanted;
  const iat = Math.floor(now / 1000);
  const exp = iat + secondsOf(expiration);
  const claims = { action: "pull", iss: issuer, pub: publicKey, sub: playbackId, video: "none", exp, iat };
  const parts = [{ alg: "ES256", typ: "JWT" }, custom === undefined ? claims : { ...claims, custom }];
  const signed = parts.map((part) => base64url(new TextEncoder().encode(JSON.stringify(part)))).join(".");
  const key = await importPrivateKey(wanted.privateKey);
  const algorithm = { name: "ECDSA", hash: "SHA-256" };
  const signature = await crypto.subtle.sign(algorithm, key, new TextEncoder().encode(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

function secondsOf(expiration: number | string): number {
  const [, amount, ...units] =
    typeof expiration === "string" ? (DURATION.exec(expiration.trim().toLowerCase()) ?? []) : [];
  const unit = units.find((name) => name !== undefined) as keyof typeof UNIT_SECONDS | undefined;
  const seconds = typeof expiration === "number" ? expiration : unit && Number(amount) * UNIT_SECONDS[unit];
  if (seconds === undefined || !(seconds > 0 && seconds <= MAX_DAYS * DAY)) {
    throw new TypeError(
      `expiration must be seconds or a text such as "45s", "30m", "12h" or "7d", ${MAX_DAYS} days at most; it is ${JSON.stringify(expiration)}`,
    );
  }
  return Math.ceil(seconds);
}

/** From base64 of a PEM text (PKCS #8). */
async function importPrivateKey(privateKey: string) {
  try {
    const der = atob(privateKey).replaceAll(/-----[A-Z ]+-----|\s/g, "");
    const bytes = Uint8Array.from(atob(der), (character) => character.charCodeAt(0));
    return await crypto.subtle.importKey("pkcs8", bytes, CURVE, false, ["sign"]);
  } catch (cause) {
    throw new TypeError("privateKey must be the base64 text that the API showed when the signing key was made", {
      cause,
    });
  }
}

const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (character) => ({ "+": "-", "/": "_" })[character] ?? "");
