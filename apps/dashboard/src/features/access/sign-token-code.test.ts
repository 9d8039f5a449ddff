import { generateKeyPairSync, verify } from "node:crypto";
import { expect, test, vi } from "vitest";
import { nodeSample } from "./sign-token-code.ts";

test("the sample as it is shown signs a token that the public key verifies", async () => {
  const pair = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const publicKey = Buffer.from(pair.publicKey).toString("base64");
  vi.stubEnv("SIGNING_KEY", Buffer.from(pair.privateKey).toString("base64"));
  const print = vi.spyOn(console, "log").mockImplementation(() => {});
  const code = nodeSample("abcd1234");
  await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);

  const [header = "", claims = "", signature = ""] = String(print.mock.calls[0]?.[0]).split(".");
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  expect(read(header)).toEqual({ alg: "ES256", typ: "JWT" });
  expect(read(claims)).toMatchObject({ sub: "abcd1234", pub: publicKey });
  expect(read(claims).exp - read(claims).iat).toBe(3600);
  const key = { key: pair.publicKey, dsaEncoding: "ieee-p1363" as const };
  expect(verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"))).toBe(true);
});
