import { expect, test } from "vitest";
import type { ViewerPass } from "../../../ports/index.ts";
import { MAX_TOKEN_LENGTH, ViewerTokens } from "./viewer-token.ts";

const SECRET = Buffer.alloc(32, 1);
const PASS = { kind: "jwt", signingKeyId: "a-key", expiresAt: 1_800_000_000_000 } as const;
const tokens = new ViewerTokens(SECRET);
const sealed = () => tokens.seal("playback1", { viewerId: "v1", pass: PASS });

const OWNER: ViewerPass = { kind: "owner", expiresAt: 1_800_000_000_000 };

test.each<ViewerPass>([PASS, OWNER, { kind: "webhook", accessKey: 'schlüssel ☃ "\\' }])(
  "a token gives back what was sealed, on every node with the secret: %o",
  (pass) => {
    const token = tokens.seal("playback1", { viewerId: "v1", pass });
    expect(new ViewerTokens(SECRET).open("playback1", token)).toEqual({ viewerId: "v1", pass });
    expect(token).toMatch(/^[\w-]+$/);
    expect(Buffer.from(token, "base64url").toString("latin1")).not.toContain("v1");
  },
);

test("the longest access key fits, whatever its characters", () => {
  for (const letter of ["a", '"', "\\", "\u00ff"]) {
    const accessKey = letter.repeat(8192 / Buffer.byteLength(letter));
    const token = tokens.seal("playback1", { viewerId: crypto.randomUUID(), pass: { kind: "webhook", accessKey } });
    expect(token.length).toBeLessThanOrEqual(MAX_TOKEN_LENGTH);
    expect(tokens.open("playback1", token)?.pass).toEqual({ kind: "webhook", accessKey });
  }
});

test("a token is invalid for another playback id", () => {
  expect(tokens.open("playback2", sealed())).toBe(null);
});

test("a token sealed with another secret is invalid", () => {
  expect(new ViewerTokens(Buffer.alloc(32, 2)).open("playback1", sealed())).toBe(null);
});

test("no two tokens are the same", () => {
  expect(sealed()).not.toBe(sealed());
});

test("a token with any character changed, added or removed is invalid", () => {
  const token = sealed();
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === "A" ? "B" : "A";
    expect(tokens.open("playback1", token.slice(0, at) + other + token.slice(at + 1))).toBe(null);
    expect(tokens.open("playback1", token.slice(0, at))).toBe(null);
  }
  for (const more of ["A", "=", " ", "%", "\n"]) expect(tokens.open("playback1", token + more)).toBe(null);
});

test.each(["", "-", "A", "AQ", "%00", "..", "\u0000", "AQ".repeat(5000)])("%j is not a token", (token) => {
  expect(tokens.open("playback1", token)).toBe(null);
});
