import { FormatError } from "../bits/index.ts";

/** The values that AMF0 can express. Dates are read as milliseconds, typed objects as plain objects. Objects have no prototype. */
export type AmfValue = number | boolean | string | null | undefined | AmfObject | AmfValue[];

export interface AmfObject {
  [key: string]: AmfValue;
}

// Declared here because this package compiles without the types of any runtime.
declare class TextDecoder {
  decode(bytes: Uint8Array): string;
}
declare class TextEncoder {
  encode(text: string): Uint8Array;
}

const NUMBER = 0x00;
const BOOLEAN = 0x01;
const STRING = 0x02;
const OBJECT = 0x03;
const NULL = 0x05;
const UNDEFINED = 0x06;
const ECMA_ARRAY = 0x08;
const OBJECT_END = 0x09;
const STRICT_ARRAY = 0x0a;
const DATE = 0x0b;
const LONG_STRING = 0x0c;
const UNSUPPORTED = 0x0d;
const TYPED_OBJECT = 0x10;

const MAX_DEPTH = 16;
const MAX_VALUES = 2000;

/** Reads all AMF0 values of a message (Action Message Format 0, 2). Throws `FormatError`. Nesting depth and value count are bounded. */
export function readAmf0(bytes: Uint8Array): AmfValue[] {
  const reader = new Amf0Reader(bytes);
  const values: AmfValue[] = [];
  while (!reader.isAtEnd) values.push(reader.value(0));
  return values;
}

class Amf0Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #count = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.byteLength;
  }

  value(depth: number): AmfValue {
    if (depth > MAX_DEPTH) throw new FormatError(`AMF0 nested at most ${MAX_DEPTH} deep`, this.#at);
    if (++this.#count > MAX_VALUES) throw new FormatError(`at most ${MAX_VALUES} AMF0 values`, this.#at);
    const marker = this.#uint8();
    switch (marker) {
      case NUMBER:
        return this.#number();
      case BOOLEAN:
        return this.#uint8() !== 0;
      case STRING:
        return this.#text(this.#uint16());
      case LONG_STRING:
        return this.#text(this.#uint32());
      case NULL:
      case UNSUPPORTED:
        return null;
      case UNDEFINED:
        return undefined;
      case TYPED_OBJECT:
        this.#text(this.#uint16());
        return this.#object(depth);
      case ECMA_ARRAY:
        this.#uint32(); // only a hint: the end marker decides
        return this.#object(depth);
      case OBJECT:
        return this.#object(depth);
      case STRICT_ARRAY:
        return this.#array(depth);
      case DATE: {
        const date = this.#number();
        this.#uint16();
        return date;
      }
      default:
        throw new FormatError(`an AMF0 marker, not 0x${marker.toString(16)}`, this.#at - 1);
    }
  }

  #object(depth: number): AmfObject {
    const object: AmfObject = Object.create(null);
    for (;;) {
      const key = this.#text(this.#uint16());
      if (key === "" && this.#bytes[this.#at] === OBJECT_END) {
        this.#at++;
        return object;
      }
      object[key] = this.value(depth + 1);
    }
  }

  #array(depth: number): AmfValue[] {
    const length = this.#uint32();
    if (length > MAX_VALUES) throw new FormatError(`an AMF0 array of at most ${MAX_VALUES}`, this.#at - 4);
    return Array.from({ length }, () => this.value(depth + 1));
  }

  #text(length: number): string {
    const from = this.#take(length);
    return new TextDecoder().decode(this.#bytes.subarray(from, from + length));
  }

  #number(): number {
    return this.#view.getFloat64(this.#take(8));
  }

  #uint8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  #uint16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  #uint32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  #take(count: number): number {
    const from = this.#at;
    if (from + count > this.#bytes.byteLength) throw new FormatError(`${count} more bytes of AMF0`, from);
    this.#at = from + count;
    return from;
  }
}

/** Writes AMF0 values. Strings over 65,535 bytes become long strings, arrays become strict arrays. */
export function writeAmf0(...values: readonly AmfValue[]): Uint8Array {
  const out: number[] = [];
  for (const value of values) write(out, value);
  return Uint8Array.from(out);
}

function write(out: number[], value: AmfValue): void {
  if (value === null) out.push(NULL);
  else if (value === undefined) out.push(UNDEFINED);
  else if (typeof value === "number") out.push(NUMBER, ...new Uint8Array(new Float64Array([value]).buffer).reverse());
  else if (typeof value === "boolean") out.push(BOOLEAN, value ? 1 : 0);
  else if (typeof value === "string") writeString(out, value);
  else if (Array.isArray(value)) {
    out.push(STRICT_ARRAY, ...uint32(value.length));
    for (const item of value) write(out, item);
  } else {
    out.push(OBJECT);
    for (const [key, item] of Object.entries(value)) {
      writeText(out, key);
      write(out, item);
    }
    out.push(0, 0, OBJECT_END);
  }
}

function writeString(out: number[], text: string): void {
  const bytes = new TextEncoder().encode(text);
  if (bytes.byteLength > 0xffff) out.push(LONG_STRING, ...uint32(bytes.byteLength));
  else out.push(STRING, bytes.byteLength >> 8, bytes.byteLength & 0xff);
  for (const byte of bytes) out.push(byte);
}

function writeText(out: number[], text: string): void {
  const bytes = new TextEncoder().encode(text);
  out.push(bytes.byteLength >> 8, bytes.byteLength & 0xff);
  for (const byte of bytes) out.push(byte);
}

function uint32(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
}
