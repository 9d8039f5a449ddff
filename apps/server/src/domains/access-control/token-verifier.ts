import { compactVerify, errors, importSPKI } from "jose";
import { LRUCache } from "lru-cache";
import { type AccessToken, type ParsedToken, parseAccessToken } from "./access-token.ts";

type Key = Awaited<ReturnType<typeof importSPKI>>;

interface Kept {
  readonly token: AccessToken;
  /** Whether the token was signed with its key. */
  readonly isGenuine: Promise<boolean>;
}

/** A token has about 700 characters. */
const MAX_TOKENS = 10_000;
const MAX_KEYS = 1_000;
const ALGORITHM = "ES256";

/** Verifies each token once. Genuine tokens are cached, and concurrent callers share one verification. */
export class TokenVerifier {
  readonly #tokens = new LRUCache<string, Kept>({ max: MAX_TOKENS });
  readonly #keys = new LRUCache<string, Promise<Key>>({ max: MAX_KEYS });
  #verifications = 0;

  /** Number of signatures checked. */
  get verifications(): number {
    return this.#verifications;
  }

  read(text: string): ParsedToken {
    const kept = this.#tokens.get(text);
    return kept ? { ok: true, token: kept.token } : parseAccessToken(text);
  }

  /** Whether the token was signed with the key that it names. Call it only for keys of a known project: all of those are P-256. */
  isGenuine(token: AccessToken): Promise<boolean> {
    const kept = this.#tokens.get(token.text);
    if (kept) return kept.isGenuine;
    const isGenuine = this.#verify(token);
    this.#tokens.set(token.text, { token, isGenuine });
    const forget = () => void this.#tokens.delete(token.text);
    isGenuine.then((answer) => answer || forget(), forget);
    return isGenuine;
  }

  async #verify({ text, publicKey }: AccessToken): Promise<boolean> {
    this.#verifications += 1;
    try {
      await compactVerify(text, await this.#keyOf(publicKey), { algorithms: [ALGORITHM] });
      return true;
    } catch (error) {
      if (error instanceof errors.JOSEError) return false;
      throw error;
    }
  }

  #keyOf(publicKey: string): Promise<Key> {
    const known = this.#keys.get(publicKey);
    if (known) return known;
    const key = importSPKI(Buffer.from(publicKey, "base64").toString(), ALGORITHM);
    this.#keys.set(publicKey, key);
    return key;
  }
}
