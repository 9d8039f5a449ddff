import { createHmac, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const TRANSACTION = randomBytes(12);

function attribute(type: number, value: Uint8Array): Buffer {
  const padded = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  padded.writeUInt16BE(type, 0);
  padded.writeUInt16BE(value.length, 2);
  padded.set(value, 4);
  return padded;
}

/** A STUN message (RFC 8489) with these attributes, whose length counts `more` bytes that are to follow. */
function message(attributes: readonly Buffer[], more: number): Buffer {
  const body = Buffer.concat(attributes);
  const head = Buffer.from([0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, ...TRANSACTION]);
  head.writeUInt16BE(body.length + more, 2);
  return Buffer.concat([head, body]);
}

/** A check as a controlling client sends it to the one with this user fragment (RFC 8445 7.2.4). */
export function iceCheck(ufrag: string, password: string, tiebreaker: bigint): Uint8Array {
  const value = Buffer.alloc(8);
  value.writeBigUInt64BE(tiebreaker);
  const attributes = [attribute(0x0006, Buffer.from(`${ufrag}:theirs`)), attribute(0x802a, value)];
  attributes.push(attribute(0x0008, createHmac("sha1", password).update(message(attributes, 24)).digest()));
  const fingerprint = Buffer.alloc(4);
  fingerprint.writeUInt32BE((crc32(message(attributes, 8)) ^ 0x5354554e) >>> 0);
  return message([...attributes, attribute(0x8028, fingerprint)], 0);
}
