import { createHmac, sign as signature } from "node:crypto";
import { expect, it } from "vitest";
import { newSigningKeyPair } from "./signing-key-pair.ts";
import { checkToken } from "./token-check.ts";
import { TokenVerifier } from "./token-verifier.ts";

const NOW = 1_700_000_000_000;
const SECONDS = NOW / 1_000;
const playbackId = "abcd1234abcd1234";
const [ours, disabled, foreign] = await Promise.all([newSigningKeyPair(), newSigningKeyPair(), newSigningKeyPair()]);
const signingKeys = [
  { id: "ours", publicKey: ours.publicKey, disabled: false },
  { id: "off", publicKey: disabled.publicKey, disabled: true },
];
const pem = (base64: string) => Buffer.from(base64, "base64").toString();
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const claims = (change: Record<string, unknown> = {}) => ({
  sub: playbackId,
  pub: ours.publicKey,
  exp: SECONDS + 60,
  ...change,
});

function token(change: Record<string, unknown> = {}, key = ours.privateKey): string {
  const text = `${part({ alg: "ES256", typ: "JWT" })}.${part(claims(change))}`;
  const bytes = signature("sha256", Buffer.from(text), { key: pem(key), dsaEncoding: "ieee-p1363" });
  return `${text}.${bytes.toString("base64url")}`;
}

const check = (text: string, { verifier = new TokenVerifier(), now = NOW, keys = signingKeys } = {}) =>
  checkToken(verifier, text, { playbackId, signingKeys: keys }, now);

it("a token of a key of the project opens its playback id until it ends", async () => {
  expect(await check(token())).toEqual({ ok: true, signingKeyId: "ours", expiresAt: NOW + 60_000 });
});

it("a signature that is a MAC with the public key's text opens nothing", async () => {
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims())}`;
  const mac = createHmac("sha256", pem(ours.publicKey)).update(text).digest("base64url");
  expect(await check(`${text}.${mac}`)).toMatchObject({ ok: false });
  const posing = `${part({ alg: "ES256", typ: "JWT" })}.${part(claims())}`;
  const wide = createHmac("sha512", pem(ours.publicKey)).update(posing).digest("base64url");
  expect(await check(`${posing}.${wide}`)).toMatchObject({ ok: false, why: expect.stringContaining("not signed") });
});

it.each([
  ["ended a second ago", { exp: SECONDS - 1 }, "expired"],
  ["ends now", { exp: SECONDS }, "expired"],
  ["ends long ago", { exp: -1e300 }, "expired"],
  ["lasts more than seven days", { exp: SECONDS + 7 * 86_400 + 1 }, "seven days"],
  ["counts milliseconds", { exp: NOW + 60_000 }, "seven days"],
  ["ends in 10^15 s", { exp: 1e15 }, "seven days"],
  ["ends at the end of numbers", { exp: 1e306 }, "seven days"],
  ["begins in 31 s", { nbf: SECONDS + 31 }, "future"],
  ["was made in 31 s", { iat: SECONDS + 31 }, "future"],
])("a token that %s is refused without cryptography", async (_what, change, why) => {
  const verifier = new TokenVerifier();
  expect(await check(token(change), { verifier })).toMatchObject({ ok: false, why: expect.stringContaining(why) });
  expect(verifier.verifications).toBe(0);
});

it.each([
  ["lasts seven days", { exp: SECONDS + 7 * 86_400 }],
  ["begins within the skew of clocks", { nbf: SECONDS + 30, iat: SECONDS + 30 }],
  ["ends in a second", { exp: SECONDS + 1 }],
])("a token that %s is taken", async (_what, change) => {
  expect(await check(token(change))).toMatchObject({ ok: true });
});

it.each([
  ["for another playback id", token({ sub: "zzzz1234abcd1234" }), "another playback id"],
  ["of a disabled key", token({ pub: disabled.publicKey }, disabled.privateKey), "disabled"],
  ["of a key of another project", token({ pub: foreign.publicKey }, foreign.privateKey), "not the public key"],
  ["whose pub is the PEM text itself", token({ pub: pem(ours.publicKey) }), "not the public key"],
  ["whose pub is spelled another way", token({ pub: `${ours.publicKey} ` }), "not the public key"],
])("a token %s is refused without cryptography", async (_what, text, why) => {
  const verifier = new TokenVerifier();
  expect(await check(text, { verifier })).toMatchObject({ ok: false, why: expect.stringContaining(why) });
  expect(verifier.verifications).toBe(0);
});

it("a token that another key signed in the name of ours is refused, and not kept", async () => {
  const verifier = new TokenVerifier();
  const forged = token({}, foreign.privateKey);
  for (const times of [1, 2]) {
    expect(await check(forged, { verifier })).toMatchObject({ ok: false, why: expect.stringContaining("not signed") });
    expect(verifier.verifications).toBe(times);
  }
});

it("changed claims under a good signature are refused", async () => {
  const [header, , bytes] = token().split(".");
  expect(await check(`${header}.${part(claims({ exp: SECONDS + 3_600 }))}.${bytes}`)).toMatchObject({ ok: false });
});

it("10,000 viewers at once with one token cause one verification", async () => {
  const verifier = new TokenVerifier();
  const text = token();
  // Each request brings its own copy of the text.
  const copies = Array.from({ length: 10_000 }, () => Buffer.from(text).toString());
  const grants = await Promise.all(copies.map((copy) => check(copy, { verifier })));
  expect(grants.every(({ ok }) => ok)).toBe(true);
  expect(verifier.verifications).toBe(1);
});

it("a token that was verified ends at its time, and with its key", async () => {
  const verifier = new TokenVerifier();
  const text = token();
  expect(await check(text, { verifier })).toMatchObject({ ok: true });
  expect(await check(text, { verifier, now: NOW + 60_000 })).toMatchObject({ ok: false });
  const off = [{ id: "ours", publicKey: ours.publicKey, disabled: true }];
  expect(await check(text, { verifier, keys: off })).toMatchObject({ ok: false });
  expect(await check(text, { verifier, keys: [] })).toMatchObject({ ok: false });
  expect(await checkToken(verifier, text, { playbackId: "zzzz1234abcd1234", signingKeys }, NOW)).toMatchObject({
    ok: false,
  });
  expect(verifier.verifications).toBe(1);
});
