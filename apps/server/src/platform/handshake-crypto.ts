import { createHmac, randomBytes } from "node:crypto";

/** What the handshake of RTMP needs of Node (`HandshakeCrypto` of the formats, which have no I/O). */
export const HANDSHAKE_CRYPTO = {
  hmacSha256: (key: Uint8Array, data: Uint8Array): Uint8Array => createHmac("sha256", key).update(data).digest(),
  random: (bytes: number): Uint8Array => new Uint8Array(randomBytes(bytes)),
};
