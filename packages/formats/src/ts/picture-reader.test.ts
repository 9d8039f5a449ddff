import { expect, it } from "vitest";
import { FormatError } from "../bits/index.ts";
import { PictureReader } from "./picture-reader.ts";

const START = [0, 0, 1];
const SPS = 0x67;

function read(units: readonly (readonly number[])[]) {
  const reader = new PictureReader(
    "avc",
    (bytes) => new Uint8Array(bytes),
    () => {},
  );
  return reader.read(Uint8Array.from(units.flatMap((unit) => [...START, ...unit])));
}

it("an access unit of nothing but the same parameter set takes no time", () => {
  const units = new Array(50_000).fill([SPS]);
  const begun = performance.now();
  expect(read(units)).toBe(null);
  // Ten seconds if each is compared with all before it.
  expect(performance.now() - begun).toBeLessThan(1_000);
});

it("an access unit of many other parameter sets is refused", () => {
  expect(() => read(Array.from({ length: 17 }, (_, n) => [SPS, 1 + n]))).toThrow(FormatError);
  expect(read(Array.from({ length: 16 }, (_, n) => [SPS, 1 + n]))).toBe(null);
});
