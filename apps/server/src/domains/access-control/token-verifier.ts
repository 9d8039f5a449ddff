import { compactVerify, errors, importSPKI } from "jose";
import { LRUCache } from "lru-cache";
import { type AccessToken, type ParsedToken, parseAccessToken } from "./access-token.ts";

type Key = Awaited<ReturnType<typeof importSPKI>>;

interface Kept {
  readonly token: AccessToken;
  /** Whether its key signed it. */
  readonly isGenuine: Promise<boolean>;
}

/** A token has some 700 characters. */
const MAX_TOKENS = 10_000;
const MAX_KEYS = 1_000;
const ALGORITHM = "ES256";

/** Verifies each token once: those that are genuine are kept, and who asks meanwhile waits for the same answer. */
export class TokenVerifier {
  readonly #tokens = new LRUCache<string, Kept>({ max: MAX_TOKENS });
  readonly #keys = new LRUCache<string, Promise<Key>>({ max: MAX_KEYS });
  #verifications = 0;

  /** How many signatures have been checked. */
  get verifications(): number {
    return this.#verifications;
  }

  read(text: string): ParsedToken {
    const kept = this.#tokens.get(text);
    return kept ? { ok: true, token: kept.token } : parseAccessToken(text);
  }

  /** Whether the key that the token names signed it. Ask only for keys that are known to be a project's: they are P-256, all of them. */
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
