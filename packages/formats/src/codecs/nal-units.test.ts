import fc from "fast-check";
import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { annexBToLengthPrefixed, lengthPrefixedToAnnexB } from "./index.ts";
import { annexBUnits, withoutEmulationPrevention } from "./nal-units.ts";

test("start codes of three and four bytes are split; trailing zeros and leading junk are dropped", () => {
  const bytes = Uint8Array.of(7, 0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 0, 0, 0, 1, 0x65);
  expect([...annexBToLengthPrefixed(bytes)]).toEqual([0, 0, 0, 2, 0x67, 1, 0, 0, 0, 2, 0x68, 2, 0, 0, 0, 1, 0x65]);
});

test("lengths of two bytes are read, and empty units omitted", () => {
  expect([...lengthPrefixedToAnnexB(Uint8Array.of(0, 1, 0x65, 0, 0, 0, 1, 0x61), 2)]).toEqual([
    0, 0, 0, 1, 0x65, 0, 0, 0, 1, 0x61,
  ]);
});

test("a length beyond the access unit is rejected with its offset", () => {
  expect(() => lengthPrefixedToAnnexB(Uint8Array.of(0, 0, 0, 1, 0x65, 0, 0, 0, 9, 1))).toThrow(
    new FormatError("a NAL unit length that fits the access unit", 5),
  );
});

test("units round-trip through start codes", () => {
  // A NAL unit never contains three zeros in a row and never ends in one.
  const unit = fc.array(fc.integer({ min: 2, max: 255 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 5 }), (units) => {
      const prefixed = Uint8Array.from(units.flatMap((bytes) => [0, 0, 0, bytes.length, ...bytes]));
      expect(annexBToLengthPrefixed(lengthPrefixedToAnnexB(prefixed))).toEqual(prefixed);
    }),
  );
});

test("every start code is found, whatever is around it", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0, 0, 0, 1, 1, 3, 255), { maxLength: 60 }), (bytes) => {
      const text = String.fromCharCode(...bytes);
      const units = text
        .split("\0\0\u0001")
        .slice(1)
        .map((unit) => unit.replace(/\0+$/, ""))
        .filter((unit) => unit !== "");
      const found = annexBUnits(Uint8Array.from(bytes)).map((unit) => String.fromCharCode(...unit));
      expect(found).toEqual(units);
    }),
    { numRuns: 2_000 },
  );
});

test("emulation prevention bytes are removed, other threes kept", () => {
  expect([...withoutEmulationPrevention(Uint8Array.of(3, 0, 0, 3, 1, 0, 3, 0, 0, 3, 0, 0, 3))]).toEqual([
    3, 0, 0, 1, 0, 3, 0, 0, 0, 0,
  ]);
});

test("arbitrary bytes convert in bounded time or are rejected", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(0, 0, 1, 3, 255), { maxLength: 300 }),
      fc.constantFrom(1, 2, 4),
      (bytes, lengthSize) => {
        const input = Uint8Array.from(bytes);
        expect(annexBToLengthPrefixed(input).length).toBeLessThanOrEqual(2 * input.length);
        try {
          lengthPrefixedToAnnexB(input, lengthSize);
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
        }
      },
    ),
  );
});
