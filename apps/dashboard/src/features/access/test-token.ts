import { signAccessJwt } from "@weir/client";

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;

/** Signs a token for one playback ID. The private key is base64 of a PEM, as the page showed it, or the PEM itself; it never leaves the browser. */
export async function signTestToken(typed: string, playbackId: string): Promise<string> {
  const privateKey = typed.includes("-----") ? btoa(typed) : typed.trim();
  return signAccessJwt({ privateKey, publicKey: await publicKeyOf(privateKey), playbackId, expiration: "10m" });
}

/** Base64 of the PEM as OpenSSL and Node.js write it: Weir knows the key by these letters. */
async function publicKeyOf(privateKey: string): Promise<string> {
  const der = atob(atob(privateKey).replace(/-----[^-]*-----|\s/g, ""));
  const bytes = Uint8Array.from(der, (letter) => letter.charCodeAt(0));
  const key = await crypto.subtle.importKey("pkcs8", bytes, CURVE, true, ["sign"]);
  const { d: _secret, key_ops: _uses, ...jwk } = await crypto.subtle.exportKey("jwk", key);
  const spki = await crypto.subtle.exportKey(
    "spki",
    await crypto.subtle.importKey("jwk", jwk, CURVE, true, ["verify"]),
  );
  const lines = btoa(String.fromCharCode(...new Uint8Array(spki))).match(/.{1,64}/g) ?? [];
  return btoa(`-----BEGIN PUBLIC KEY-----\n${lines.join("\n")}\n-----END PUBLIC KEY-----\n`);
}
