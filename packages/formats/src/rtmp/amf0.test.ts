import fc from "fast-check";
import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { type AmfObject, type AmfValue, readAmf0, writeAmf0 } from "./index.ts";

/** Objects as the reader creates them, without a prototype. */
function object(entries: readonly (readonly [string, AmfValue])[]): AmfObject {
  const empty: AmfObject = Object.create(null);
  for (const [key, item] of entries) empty[key] = item;
  return empty;
}

const { value } = fc.letrec<{ value: AmfValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constant(null),
    fc.boolean(),
    fc.double(),
    fc.string({ unit: "grapheme" }),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.array(fc.tuple(fc.string({ minLength: 1 }), tie("value")), { maxLength: 5 }).map(object),
  ),
}));

test("values round-trip", () => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 6 }), (values) => {
      expect(readAmf0(writeAmf0(...values))).toEqual(values);
    }),
  );
});

test("text is UTF-8", () => {
  // Like `unit: "binary"`, which takes seconds to build.
  const points = fc.oneof(fc.integer({ max: 0xd7ff, min: 0 }), fc.integer({ min: 0xe000, max: 0x10ffff }));
  const texts = fc.array(points).map((each) => String.fromCodePoint(...each));
  fc.assert(
    fc.property(
      texts.filter((text) => !text.startsWith("\ufeff")),
      (text) => {
        const bytes = writeAmf0(text);
        expect(bytes.subarray(3)).toEqual(new Uint8Array(new TextEncoder().encode(text)));
        expect(readAmf0(bytes)).toEqual([text]);
      },
    ),
  );
});

test("invalid UTF-8 is read as replacement characters", () => {
  const bytes = [0x61, 0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0xe2, 0x82, 0xf4, 0x90, 0x80, 0x80, 0x62];
  const [text] = readAmf0(Uint8Array.of(2, 0, bytes.length, ...bytes));
  expect(text).toMatch(/^a\ufffd+b$/);
});

test("a string over 64 KiB is written as a long string", () => {
  const long = "x".repeat(70_000);
  expect(writeAmf0(long)[0]).toBe(12);
  expect(readAmf0(writeAmf0(long))).toEqual([long]);
});

test.each([
  ["undefined", [6], undefined],
  ["unsupported", [13], null],
  ["a date", [11, 0x40, 0x59, 0, 0, 0, 0, 0, 0, 0, 0], 100],
  ["a typed object", [16, 0, 1, 0x54, 0, 1, 0x61, 5, 0, 0, 9], object([["a", null]])],
  ["an ECMA array with a wrong count", [8, 0xff, 0xff, 0xff, 0xff, 0, 1, 0x61, 1, 1, 0, 0, 9], object([["a", true]])],
  ["a key __proto__", [3, 0, 9, ...Buffer.from("__proto__"), 5, 0, 0, 9], object([["__proto__", null]])],
])("reads %s", (_, bytes, expected) => {
  expect(readAmf0(Uint8Array.from(bytes))).toEqual([expected]);
});

test.each([
  ["10,000 nested objects", new Array(10_000).fill([3, 0, 1, 0x61]).flat()],
  ["10,000 nested arrays", new Array(10_000).fill([10, 0, 0, 0, 1]).flat()],
  ["an array of 2^32 - 1 values", [10, 0xff, 0xff, 0xff, 0xff]],
  ["a string longer than the message", [2, 0xff, 0xff, 0x61]],
  ["a long string longer than the message", [12, 0xff, 0xff, 0xff, 0xff, 0x61]],
  ["an object without an end", [3, 0, 1, 0x61, 5]],
  ["a number cut short", [0, 1, 2, 3]],
  ["a reference", [7, 0, 0]],
  ["an unknown marker", [0x7f]],
  ["5,000 values", new Array(5000).fill(5)],
])("%s is rejected", (_, bytes) => {
  expect(() => readAmf0(Uint8Array.from(bytes))).toThrow(FormatError);
});

test("random bytes give values or FormatError", () => {
  const marker = fc.constantFrom(0, 1, 2, 3, 5, 8, 9, 10, 12, 16);
  const bytes = fc.array(fc.oneof(marker, fc.integer({ min: 0, max: 255 })), { maxLength: 500, size: "max" });
  fc.assert(
    fc.property(bytes, (raw) => {
      try {
        readAmf0(Uint8Array.from(raw));
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
    { numRuns: 500 },
  );
});
