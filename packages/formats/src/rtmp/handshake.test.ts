import { createHmac, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { answerHandshake, clientHello, HANDSHAKE_BYTES } from "./index.ts";

const crypto = {
  hmacSha256: (key: Uint8Array, data: Uint8Array) => new Uint8Array(createHmac("sha256", key).update(data).digest()),
  random: (bytes: number) => new Uint8Array(randomBytes(bytes)),
};

const s1Of = (answer: Uint8Array) => answer.subarray(1, 1 + HANDSHAKE_BYTES);
const s2Of = (answer: Uint8Array) => answer.subarray(1 + HANDSHAKE_BYTES);

/** The digest of a block, by the scheme whose pointer is at `pointer`, and the bytes it covers. */
function digestAt(block: Uint8Array, pointer: number) {
  const sum = block.subarray(pointer, pointer + 4).reduce((total, byte) => total + byte, 0);
  const at = pointer + 4 + (sum % 728);
  return { digest: block.slice(at, at + 32), rest: Buffer.concat([block.subarray(0, at), block.subarray(at + 32)]) };
}

test("a plain hello is echoed", () => {
  const hello = clientHello(crypto, false);
  const answer = answerHandshake(hello, crypto);
  expect(answer).toHaveLength(1 + 2 * HANDSHAKE_BYTES);
  expect(answer[0]).toBe(3);
  expect(s1Of(answer).subarray(4, 8)).toEqual(new Uint8Array(4));
  expect(s2Of(answer)).toEqual(hello.subarray(1));
});

test.each([8, 772])("a hello signed by the scheme at byte %i gets a signed answer and a proof", (pointer) => {
  const hello = clientHello(crypto, false);
  hello.set([9, 0, 124, 2], 5);
  const c1 = hello.subarray(1);
  const { digest, rest } = digestAt(c1, pointer);
  const clientDigest = crypto.hmacSha256(Buffer.from("Genuine Adobe Flash Player 001"), rest);
  c1.set(clientDigest, Buffer.from(c1).indexOf(digest));

  const answer = answerHandshake(hello, crypto);
  const serverName = Buffer.from("Genuine Adobe Flash Media Server 001");
  const signed = digestAt(s1Of(answer), pointer);
  expect(signed.digest).toEqual(crypto.hmacSha256(serverName, signed.rest));
  const common = "f0eec24a8068bee82e00d0d1029e7e576eec5d2d29806fab93b8e636cfeb31ae";
  const key = crypto.hmacSha256(Buffer.concat([serverName, Buffer.from(common, "hex")]), clientDigest);
  expect(s2Of(answer).slice(1504)).toEqual(crypto.hmacSha256(key, s2Of(answer).subarray(0, 1504)));
});

test("our own signed hello is recognised", () => {
  const hello = clientHello(crypto, true);
  expect(s2Of(answerHandshake(hello, crypto))).not.toEqual(hello.subarray(1));
});

test("a hello with a version but no digest is echoed", () => {
  const hello = clientHello(crypto, false);
  hello.set([9, 0, 124, 2], 5);
  expect(s2Of(answerHandshake(hello, crypto))).toEqual(hello.subarray(1));
});

test.each([6, 0x16, 0x47])("version %i is rejected", (version) => {
  const hello = clientHello(crypto, false);
  hello[0] = version;
  expect(() => answerHandshake(hello, crypto)).toThrow(FormatError);
});
