import { generateKeyPairSync, verify } from "node:crypto";
import { expect, it } from "vitest";
import { signAccessJwt } from "./access-jwt.ts";

const pair = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
});
const privateKey = Buffer.from(pair.privateKey).toString("base64");
const publicKey = Buffer.from(pair.publicKey).toString("base64");
const wanted = { privateKey, publicKey, playbackId: "abcd1234abcd1234" };

function claimsOf(token: string): Record<string, unknown> {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const key = { key: pair.publicKey, dsaEncoding: "ieee-p1363" } as const;
  const isGenuine = verify("sha256", Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, "base64url"));
  expect(isGenuine).toBe(true);
  expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "ES256", typ: "JWT" });
  return JSON.parse(Buffer.from(claims, "base64url").toString());
}

it("signs the claims that public clients sign, in their order, for a day", async () => {
  const claims = claimsOf(await signAccessJwt({ ...wanted, issuer: "https://ex.test", custom: { name: "Zoë" } }));
  expect(Object.keys(claims)).toEqual(["action", "iss", "pub", "sub", "video", "exp", "iat", "custom"]);
  expect(claims).toMatchObject({
    iss: "https://ex.test",
    pub: publicKey,
    sub: wanted.playbackId,
    custom: { name: "Zoë" },
  });
  expect(Number(claims.exp) - Number(claims.iat)).toBe(86_400);
  expect(Math.abs(Number(claims.iat) - Date.now() / 1000)).toBeLessThan(60);
});

it.each([
  [90, 90],
  ["45s", 45],
  ["30m", 1_800],
  ["1.5h", 5_400],
  ["12 hours", 43_200],
  ["2 minutes", 120],
  ["7d", 604_800],
  ["1 Day", 86_400],
])("an expiration of %j is %i seconds", async (expiration, seconds) => {
  const { exp, iat } = claimsOf(await signAccessJwt({ ...wanted, expiration }));
  expect(Number(exp) - Number(iat)).toBe(seconds);
});

it.each([0, -1, Number.NaN, 604_801, "8d", "1w", "soon", "", "m", "1h30m"])(
  "refuses an expiration of %j",
  async (expiration) => {
    await expect(signAccessJwt({ ...wanted, expiration })).rejects.toThrow(TypeError);
  },
);

it.each([pair.privateKey, "", publicKey])("refuses what is no private key without showing it", async (wrong) => {
  const failure: Error = await signAccessJwt({ ...wanted, privateKey: wrong }).then(String, (error) => error);
  expect(failure).toBeInstanceOf(TypeError);
  if (wrong !== "") expect(failure.message).not.toContain(wrong);
});
