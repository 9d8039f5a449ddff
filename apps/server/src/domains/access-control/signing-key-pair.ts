import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";

const generate = promisify(generateKeyPair);

const base64 = (pem: string): string => Buffer.from(pem).toString("base64");

/** Create a key pair for ES256 (P-256), as base64 of the PEM texts (SPKI and PKCS #8), the form that public clients expect. */
export async function newSigningKeyPair(): Promise<{ publicKey: string; privateKey: string }> {
  const { publicKey, privateKey } = await generate("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return { publicKey: base64(publicKey), privateKey: base64(privateKey) };
}
