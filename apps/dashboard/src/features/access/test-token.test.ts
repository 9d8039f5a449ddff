import { generateKeyPairSync, verify } from "node:crypto";
import { expect, test } from "vitest";
import { signTestToken } from "./test-token.ts";

const pair = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});

test.each([
  ["as the page shows it", Buffer.from(pair.privateKey).toString("base64")],
  ["as the downloaded file has it", pair.privateKey],
])("a private key, %s, signs a test token that its public key verifies", async (_form, privateKey) => {
  const [header = "", claims = "", signature = ""] = (await signTestToken(privateKey, "abcd1234")).split(".");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  expect(read(header)).toEqual({ alg: "ES256", typ: "JWT" });
  expect(read(claims)).toMatchObject({ sub: "abcd1234", pub: Buffer.from(pair.publicKey).toString("base64") });
  expect(read(claims).exp - read(claims).iat).toBe(600);
  const key = { key: pair.publicKey, dsaEncoding: "ieee-p1363" as const };
  expect(verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"))).toBe(true);
});

test.each(["", "no key", Buffer.from("no key either").toString("base64"), pair.publicKey])(
  "other text than a private key signs nothing: %j",
  async (text) => {
    await expect(signTestToken(text, "abcd1234")).rejects.toThrow();
  },
);
