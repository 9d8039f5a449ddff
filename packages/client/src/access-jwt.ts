/** The claims of a token, and its key. */
export interface AccessJwt {
  /** As the API showed it when the signing key was made: base64 of the PEM text. Keep it on your server. */
  readonly privateKey: string;
  /** As the signing key's record has it. */
  readonly publicKey: string;
  readonly playbackId: string;
  /** The signer; for your own records. */
  readonly issuer?: string;
  /** How long the token opens the door: seconds, or a text such as `45s`, `30m`, `12h`, `7d`. One day when not given, seven at most. */
  readonly expiration?: number | string;
  /** Anything else that your own systems want to read from it. The holder of the token can read it too. */
  readonly custom?: Readonly<Record<string, unknown>>;
  /** Milliseconds since the Unix epoch; the clock's when not given. */
  readonly now?: number;
}

const DAY = 86_400;
const MAX_DAYS = 7;
const UNIT_SECONDS = { s: 1, m: 60, h: 3_600, d: DAY } as const;
const DURATION = /^(\d+(?:\.\d+)?) ?(?:(s)(?:ec(?:ond)?s?)?|(m)(?:in(?:ute)?s?)?|(h)(?:(?:ou)?rs?)?|(d)(?:ays?)?)$/;
const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;

/**
 * A token that lets whoever has it watch this playback id, where the policy is `jwt`: sent as `Service-Jwt` header or `jwt` query. For
 * Node and anything else with Web Crypto. Throws TypeError for a private key or an expiration that cannot be.
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
