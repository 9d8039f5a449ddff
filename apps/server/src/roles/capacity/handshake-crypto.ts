import { createHmac, randomBytes } from "node:crypto";
import type { HandshakeCrypto } from "@weir/formats/rtmp";

export const CRYPTO: HandshakeCrypto = {
  hmacSha256: (key, data) => createHmac("sha256", key).update(data).digest(),
  random: (bytes) => new Uint8Array(randomBytes(bytes)),
};
