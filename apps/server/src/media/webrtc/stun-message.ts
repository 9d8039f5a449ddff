import { createHmac, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";

/** Parts of STUN (RFC 8489) that a server needs beside its ICE library. */

export const HEADER_BYTES = 20;
export const MAGIC_COOKIE = 0x2112a442;
export const BINDING_REQUEST = 0x0001;
export const BINDING_RESPONSE = 0x0101;
export const XOR_MAPPED_ADDRESS = 0x0020;
const USERNAME = 0x0006;
const INTEGRITY = 0x0008;
const INTEGRITY_BYTES = 20;
const FINGERPRINT = 0x8028;
const FINGERPRINT_XOR = 0x5354554e;
/** Of ICE (RFC 8445 16.1): the tiebreaker of a client in one role or the other. */
const TIEBREAKERS = [0x8029, 0x802a];
/** Type and length of an attribute. */
const ATTRIBUTE_HEADER_BYTES = 4;

/** Where the value of an attribute is in its message. */
interface Attribute {
  readonly at: number;
  readonly length: number;
}

/** A signed message of an ICE check. Changes are signed with the same password. */
export class IceCheck {
  readonly type: number;
  readonly #message: Buffer;
  readonly #attributes: ReadonlyMap<number, Attribute>;
  #hasChanged = false;

  private constructor(message: Buffer, attributes: ReadonlyMap<number, Attribute>) {
    this.type = message.readUInt16BE(0);
    this.#message = message;
    this.#attributes = attributes;
  }

  /** Null for what is no signed STUN message: RTP, DTLS, or anything that strangers send. */
  static read(bytes: Uint8Array): IceCheck | null {
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (message.length < HEADER_BYTES || message.length % 4 !== 0 || message.readUInt16BE(0) >= 0x4000) return null;
    if (message.readUInt32BE(4) !== MAGIC_COOKIE || message.readUInt16BE(2) !== message.length - HEADER_BYTES)
      return null;
    const attributes = new Map<number, Attribute>();
    for (let at = HEADER_BYTES; at < message.length; ) {
      const length = message.readUInt16BE(at + 2);
      const value = at + ATTRIBUTE_HEADER_BYTES;
      if (value + length > message.length) return null;
      attributes.set(message.readUInt16BE(at), { at: value, length });
      at = value + Math.ceil(length / 4) * 4;
    }
    if (attributes.get(INTEGRITY)?.length !== INTEGRITY_BYTES) return null;
    return new IceCheck(message, attributes);
  }

  /** The user fragment of the one who is asked; empty without a name. */
  get askedUfrag(): string {
    return this.#value(USERNAME)?.toString("latin1").split(":")[0] ?? "";
  }

  isSignedWith(password: string): boolean {
    const { at } = this.#attributes.get(INTEGRITY) as Attribute;
    return timingSafeEqual(this.#integrity(password), this.#message.subarray(at, at + INTEGRITY_BYTES));
  }

  /** Makes a tiebreaker of 0 one of 1. */
  avoidZeroTiebreaker(): void {
    for (const type of TIEBREAKERS) {
      const value = this.#value(type);
      if (value?.length !== 8 || value.readBigUInt64BE() !== 0n) continue;
      value.writeBigUInt64BE(1n);
      this.#hasChanged = true;
    }
  }

  /** What a client is told its address is. Nothing changes where the address is of the other IP version. */
  setMappedAddress(address: string, port: number): void {
    const value = this.#value(XOR_MAPPED_ADDRESS);
    const mapped = xorMappedAddress(this.#message, address, port);
    if (value?.length !== mapped.length) return;
    value.set(mapped);
    this.#hasChanged = true;
  }

  /** The message as it is now. */
  bytes(password: string): Uint8Array {
    if (!this.#hasChanged) return this.#message;
    const { at } = this.#attributes.get(INTEGRITY) as Attribute;
    this.#message.set(this.#integrity(password), at);
    const fingerprint = this.#value(FINGERPRINT);
    const end = this.#attributes.get(FINGERPRINT)?.at ?? 0;
    const signed = this.#message.subarray(0, end - ATTRIBUTE_HEADER_BYTES);
    if (fingerprint?.length === 4) fingerprint.writeUInt32BE((crc32(signed) ^ FINGERPRINT_XOR) >>> 0);
    return this.#message;
  }

  #value(type: number): Buffer | null {
    const found = this.#attributes.get(type);
    return found ? this.#message.subarray(found.at, found.at + found.length) : null;
  }

  /** Over all before it, as if the message ended with it (RFC 8489 14.5). */
  #integrity(password: string): Buffer {
    const { at } = this.#attributes.get(INTEGRITY) as Attribute;
    const signed = Buffer.from(this.#message.subarray(0, at - ATTRIBUTE_HEADER_BYTES));
    signed.writeUInt16BE(at + INTEGRITY_BYTES - HEADER_BYTES, 2);
    return createHmac("sha1", password).update(signed).digest();
  }
}

/** The value of XOR-MAPPED-ADDRESS in a response, which has the transaction id of `message`: so obfuscated, NATs do not rewrite it. */
export function xorMappedAddress(message: Uint8Array, address: string, port: number): Uint8Array {
  const bytes = addressBytes(address);
  const value = Buffer.alloc(4 + bytes.length);
  value.writeUInt8(bytes.length === 4 ? 1 : 2, 1);
  value.writeUInt16BE(port ^ (MAGIC_COOKIE >>> 16), 2);
  for (const [index, byte] of bytes.entries()) value.writeUInt8(byte ^ (message[4 + index] ?? 0), 4 + index);
  return value;
}

function addressBytes(address: string): number[] {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "").replace(/%.*$/, "");
  if (!plain.includes(":")) return plain.split(".").map(Number);
  const [head = "", tail] = plain.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return all.flatMap((group) => [group >> 8, group & 255]);
}
