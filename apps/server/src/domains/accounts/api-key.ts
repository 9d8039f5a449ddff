import { createHash, randomBytes } from "node:crypto";

const PREFIX_LENGTH = 10;

/** A new API key: 256 bits of chance. Shown once, stored as its hash. */
export const newApiKey = (): string => `weir_${randomBytes(32).toString("base64url")}`;

/** A plain hash is enough for what cannot be guessed; it also makes the look-up independent of the key's characters. */
export const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** Enough of a key to tell it from others; nothing of a short one. */
export const keyPrefix = (key: string): string => (key.length >= 3 * PREFIX_LENGTH ? key.slice(0, PREFIX_LENGTH) : "");
