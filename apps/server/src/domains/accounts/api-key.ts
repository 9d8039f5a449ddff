import { createHash, randomBytes } from "node:crypto";

const PREFIX_LENGTH = 10;

/** A new API key with 256 random bits. Shown once, stored as its hash. */
export const newApiKey = (): string => `weir_${randomBytes(32).toString("base64url")}`;

/** A plain hash is enough for a secret that cannot be guessed. It also makes the lookup independent of the key's characters. */
export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** Enough of a key to tell it from others; nothing of a short one. */
export const keyPrefix = (key: string): string => (key.length >= 3 * PREFIX_LENGTH ? key.slice(0, PREFIX_LENGTH) : "");
