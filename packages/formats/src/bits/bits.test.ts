import fc from "fast-check";
import { expect, test } from "vitest";
import { BitReader, BitWriter, FormatError } from "./index.ts";

test("fields round-trip across byte boundaries", () => {
  const field = fc
    .integer({ min: 0, max: 32 })
    .chain((width) => fc.tuple(fc.constant(width), fc.bigInt(0n, 2n ** BigInt(width) - 1n)));
  fc.assert(
    fc.property(fc.array(field, { maxLength: 40 }), (fields) => {
      const writer = new BitWriter();
      for (const [width, value] of fields) writer.bits(Number(value), width);
      const reader = new BitReader(writer.toBytes());
      for (const [width, value] of fields) expect(reader.bits(width)).toBe(Number(value));
      expect(reader.bitsLeft).toBeLessThan(8);
    }),
  );
});

test("Exp-Golomb codes round-trip", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 31 - 2 })), (values) => {
      const writer = new BitWriter();
      for (const value of values) writer.unsignedExpGolomb(value);
      const reader = new BitReader(writer.toBytes());
      for (const value of values) expect(reader.unsignedExpGolomb()).toBe(value);
    }),
  );
});

test("signed Exp-Golomb codes alternate around zero", () => {
  const writer = new BitWriter();
  for (let code = 0; code < 5; code++) writer.unsignedExpGolomb(code);
  const reader = new BitReader(writer.toBytes());
  expect([0, 1, 2, 3, 4].map(() => reader.signedExpGolomb())).toEqual([0, 1, -1, 2, -2]);
});

test("reading past the end reports how many bits are missing and where", () => {
  const reader = new BitReader(Uint8Array.of(0xff, 0xff));
  reader.skip(10);
  expect(() => reader.bits(7)).toThrow(new FormatError("7 more bits", 1));
  expect(() => reader.skip(7)).toThrow(FormatError);
});

test("an endless Exp-Golomb prefix is rejected", () => {
  expect(() => new BitReader(new Uint8Array(100)).unsignedExpGolomb()).toThrow(FormatError);
});
