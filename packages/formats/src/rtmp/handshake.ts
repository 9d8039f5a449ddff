import { FormatError } from "../bits/index.ts";

/** The two functions that the handshake needs from the runtime. */
export interface HandshakeCrypto {
  hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array;
  random(bytes: number): Uint8Array;
}

export const HANDSHAKE_BYTES = 1536;
/** Length of C0 and C1. */
export const CLIENT_HELLO_BYTES = 1 + HANDSHAKE_BYTES;

const VERSION = 3;
const DIGEST_BYTES = 32;
/** Offsets of the four bytes from which the two schemes compute the digest's offset. */
const SCHEME_BASES = [8, 772];
/** Flash-era clients and servers sign with their ASCII name followed by these 32 bytes. */
const COMMON_KEY = [
  0xf0, 0xee, 0xc2, 0x4a, 0x80, 0x68, 0xbe, 0xe8, 0x2e, 0x00, 0xd0, 0xd1, 0x02, 0x9e, 0x7e, 0x57, 0x6e, 0xec, 0x5d,
  0x2d, 0x29, 0x80, 0x6f, 0xab, 0x93, 0xb8, 0xe6, 0x36, 0xcf, 0xeb, 0x31, 0xae,
];
const PLAYER_NAME = ascii("Genuine Adobe Flash Player 001");
const SERVER_NAME = ascii("Genuine Adobe Flash Media Server 001");
const SERVER_KEY = Uint8Array.from([...SERVER_NAME, ...COMMON_KEY]);

/**
 * Answers C0 and C1 with S0, S1 and S2: the digest handshake if C1 has a valid digest, otherwise the simple one (RTMP 1.0, 5.2). Throws
 * `FormatError` if C0 is not version 3.
 */
export function answerHandshake(hello: Uint8Array, crypto: HandshakeCrypto): Uint8Array {
  if (hello[0] !== VERSION) throw new FormatError(`RTMP version ${VERSION}, not ${hello[0]}`, 0);
  const c1 = hello.subarray(1, CLIENT_HELLO_BYTES);
  const signed = findDigest(c1, crypto);
  const s1 = crypto.random(HANDSHAKE_BYTES);
  s1.fill(0, 0, 8);
  const out = new Uint8Array(1 + 2 * HANDSHAKE_BYTES);
  out[0] = VERSION;
  if (signed) {
    s1.set([5, 0, 3, 1], 4); // any version other than 0 announces a digest
    const at = digestOffset(s1, signed.base);
    s1.set(digestOf(s1, at, SERVER_NAME, crypto), at);
    const s2 = crypto.random(HANDSHAKE_BYTES);
    const key = crypto.hmacSha256(SERVER_KEY, signed.digest);
    s2.set(crypto.hmacSha256(key, s2.subarray(0, HANDSHAKE_BYTES - DIGEST_BYTES)), HANDSHAKE_BYTES - DIGEST_BYTES);
    out.set(s2, 1 + HANDSHAKE_BYTES);
  } else {
    out.set(c1, 1 + HANDSHAKE_BYTES);
  }
  out.set(s1, 1);
  return out;
}

/** The digest of C1 and the scheme that it follows; null without a valid digest. */
export function findDigest(c1: Uint8Array, crypto: HandshakeCrypto): { base: number; digest: Uint8Array } | null {
  for (const base of SCHEME_BASES) {
    const at = digestOffset(c1, base);
    const digest = c1.subarray(at, at + DIGEST_BYTES);
    const expected = digestOf(c1, at, PLAYER_NAME, crypto);
    if (digest.every((byte, index) => byte === expected[index])) return { base, digest };
  }
  return null;
}

/** C0 and C1 of a client, with or without a digest. */
export function clientHello(crypto: HandshakeCrypto, isSigned: boolean): Uint8Array {
  const hello = new Uint8Array(CLIENT_HELLO_BYTES);
  hello[0] = VERSION;
  const c1 = crypto.random(HANDSHAKE_BYTES);
  c1.fill(0, 0, 8);
  if (isSigned) {
    c1.set([9, 0, 124, 2], 4);
    const at = digestOffset(c1, SCHEME_BASES[0] ?? 8);
    c1.set(digestOf(c1, at, PLAYER_NAME, crypto), at);
  }
  hello.set(c1, 1);
  return hello;
}

function digestOffset(block: Uint8Array, base: number): number {
  const sum = (block[base] ?? 0) + (block[base + 1] ?? 0) + (block[base + 2] ?? 0) + (block[base + 3] ?? 0);
  return (sum % 728) + base + 4;
}

/** HMAC of the block without the 32 bytes of the digest. */
function digestOf(block: Uint8Array, at: number, key: Uint8Array, crypto: HandshakeCrypto): Uint8Array {
  const rest = new Uint8Array(HANDSHAKE_BYTES - DIGEST_BYTES);
  rest.set(block.subarray(0, at));
  rest.set(block.subarray(at + DIGEST_BYTES), at);
  return crypto.hmacSha256(key, rest);
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
