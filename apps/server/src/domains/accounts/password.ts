import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { ApiError } from "../api/index.ts";

/** OWASP password storage cheat sheet, 2025: 32 MiB and about 0.3 s of a core per attempt. */
const COST = { ln: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;
/** Hashing is so expensive that only a few callers may wait for it. */
const MAX_WAITING = 20;

/** RFC 7914: the binary logarithm of N, the block size, the parallelization. */
export interface PasswordCost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** Stored passwords, `$scrypt$ln=15,r=8,p=3$salt$hash`, each with its own cost. One is hashed at a time, and 20 may wait. */
export class Passwords {
  readonly #cost: PasswordCost;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** The cost of new hashes; tests lower it. */
  constructor(cost: PasswordCost = COST) {
    this.#cost = cost;
  }

  /** Throws `too-busy`, like `isRight`. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES);
    return stored(this.#cost, salt, await this.#derive(password, salt, this.#cost));
  }

  /** `hashed` is null if the person does not exist; the check then takes as long as for a wrong password. */
  async isRight(password: string, hashed: string | null): Promise<boolean> {
    const nobodys = Buffer.alloc(HASH_BYTES);
    const match = STORED.exec(hashed ?? stored(this.#cost, nobodys.subarray(0, SALT_BYTES), nobodys));
    if (!match) throw new Error("a stored password is not in a form that is known");
    const [, ln, r, p, salt = "", hash = ""] = match;
    const expected = Buffer.from(hash, "base64");
    const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
    const given = await this.#derive(password, Buffer.from(salt, "base64"), cost);
    return given.length === expected.length && timingSafeEqual(given, expected) && hashed !== null;
  }

  async #derive(password: string, salt: Buffer, { ln, r, p }: PasswordCost): Promise<Buffer> {
    if (this.#waiting >= MAX_WAITING)
      throw new ApiError(503, "too-busy", "too many people sign in at this moment: try again in a few seconds");
    this.#waiting += 1;
    const options = { N: 2 ** ln, r, p, maxmem: 2 ** (ln + 8) * r };
    // The same characters, whichever way a keyboard composes them.
    const run = this.#last.then(() => deriveKey(password.normalize("NFKC"), salt, options));
    this.#last = run.catch(() => {});
    try {
      return await run;
    } finally {
      this.#waiting -= 1;
    }
  }
}

const stored = ({ ln, r, p }: PasswordCost, salt: Buffer, hash: Buffer): string =>
  `$scrypt$ln=${ln},r=${r},p=${p}$${base64(salt)}$${base64(hash)}`;

const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");

const deriveKey = (password: string, salt: Buffer, options: ScryptOptions) =>
  new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
  });
