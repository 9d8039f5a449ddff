import { expect, it } from "vitest";
import { parseAccessToken } from "./access-token.ts";

const part = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const HEADER = { alg: "ES256", typ: "JWT" };
const CLAIMS = { sub: "abcd1234abcd1234", pub: "key", exp: 2_000_000_000 };
const SIGNATURE = Buffer.alloc(64, 7).toString("base64url");
const token = (header: unknown = HEADER, claims: unknown = CLAIMS, signature = SIGNATURE) =>
  [part(header), part(claims), signature].join(".");

const whyOf = (text: string): string => {
  const parsed = parseAccessToken(text);
  return parsed.ok ? "accepted" : parsed.why;
};

it("reads what counts, in milliseconds", () => {
  const text = token({ ...HEADER, kid: "1" }, { ...CLAIMS, nbf: 10.5, iat: 20, iss: "x", action: "pull", custom: {} });
  expect(parseAccessToken(text)).toEqual({
    ok: true,
    token: { text, playbackId: CLAIMS.sub, publicKey: "key", expiresAt: 2_000_000_000_000, startsAt: 20_000 },
  });
  expect(parseAccessToken(token({ alg: "ES256" }))).toMatchObject({ ok: true, token: { startsAt: 0 } });
});

// The token chooses neither algorithm nor key.
it.each([
  [{ ...HEADER, alg: "none" }],
  [{ ...HEADER, alg: "HS256" }],
  [{ ...HEADER, alg: "RS256" }],
  [{ ...HEADER, alg: "ES384" }],
  [{ ...HEADER, alg: "es256" }],
  [{ ...HEADER, alg: ["ES256"] }],
  [{ typ: "JWT" }],
  [{ ...HEADER, typ: "at+jwt" }],
  [{ ...HEADER, typ: null }],
  [{ ...HEADER, kid: 1 }],
  [{ ...HEADER, crit: ["exp"] }],
  [{ ...HEADER, crit: [] }],
  [{ ...HEADER, b64: false }],
  [{ ...HEADER, jwk: { kty: "EC" } }],
  [{ ...HEADER, jku: "https://evil.test/keys" }],
  [{ ...HEADER, x5u: "https://evil.test/cert" }],
  [{ ...HEADER, x5c: [] }],
])("refuses the header %j", (header) => {
  expect(whyOf(token(header))).toMatch(/^the token's (header|typ|kid) (must|may)/);
});

it.each([
  [{ sub: "a", pub: "b" }, "no exp"],
  [{ ...CLAIMS, exp: "2000000000" }, "exp must be a number"],
  [{ ...CLAIMS, exp: null }, "exp must be a number"],
  [{ ...CLAIMS, nbf: "1" }, "nbf must be a number"],
  [{ ...CLAIMS, nbf: null }, "nbf must be a number"],
  [{ ...CLAIMS, iat: {} }, "iat must be a number"],
  [{ pub: "b", exp: 1 }, "no sub"],
  [{ ...CLAIMS, sub: ["abcd1234abcd1234"] }, "no sub"],
  [{ sub: "a", exp: 1 }, "no pub"],
  [[CLAIMS], "not a JSON object"],
  ["null", "not a JSON object"],
  ["7", "not a JSON object"],
])("refuses the claims %j", (claims, why) => {
  expect(whyOf(token(HEADER, claims))).toContain(why);
});

it.each([
  ["nothing", "", "three parts"],
  ["one part", part(HEADER), "three parts"],
  ["two parts", `${part(HEADER)}.${part(CLAIMS)}`, "three parts"],
  ["four parts", `${token()}.`, "three parts"],
  ["no signature", `${part(HEADER)}.${part(CLAIMS)}.`, "signature is not base64url"],
  ["a short signature", token(HEADER, CLAIMS, part("x")), "64 bytes"],
  ["a signature in DER", token(HEADER, CLAIMS, Buffer.alloc(71, 48).toString("base64url")), "64 bytes"],
  ["padding", token(HEADER, CLAIMS, `${SIGNATURE}==`), "signature is not base64url"],
  [
    "stray bits behind the last byte",
    token(HEADER, CLAIMS, `${SIGNATURE.slice(0, -1)}x`),
    "signature is not base64url",
  ],
  ["base64 with plus", token(HEADER, CLAIMS, `+${SIGNATURE.slice(1)}`), "signature is not base64url"],
  ["white space", ` ${token()}`, "header is not base64url"],
  ["a line break at the end", `${token()}\n`, "signature is not base64url"],
  ["a name twice", token(HEADER, '{"sub":"a","sub":"b","pub":"c","exp":1}'), "a name twice"],
  ["a name twice, escaped", token('{"alg":"ES256","\\u0061lg":"none"}'), "a name twice"],
  ["__proto__", token(HEADER, '{"__proto__":{"sub":"a"},"pub":"c","exp":1}'), "not JSON"],
  ["no JSON", token("header"), "not JSON"],
  [
    "bytes that are no UTF-8",
    [part(HEADER), Buffer.from([123, 255, 125]).toString("base64url"), SIGNATURE].join("."),
    "not JSON",
  ],
  ["a byte order mark", token(`\u{feff}${JSON.stringify(HEADER)}`), "not JSON"],
  ["depth", token(HEADER, `{"custom":${"[".repeat(5_000)}${"]".repeat(5_000)}}`), "longer than"],
  ["some depth", token(HEADER, `{"custom":${"[".repeat(500)}${"]".repeat(500)}}`), "not JSON"],
  ["a megabyte", "a.".repeat(500_000), "longer than"],
])("refuses %s before any cryptography", (_what, text, why) => {
  expect(whyOf(text)).toContain(why);
});
