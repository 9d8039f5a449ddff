import { expect, test } from "vitest";
import { Libsrt } from "./libsrt.ts";

test("a machine without a way to call native libraries is one without libsrt", async () => {
  expect(await Libsrt.load(() => Promise.reject(new Error("no build for this machine")))).toBeNull();
});
