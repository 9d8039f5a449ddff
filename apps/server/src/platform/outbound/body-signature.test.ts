import { createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { signBody } from "./body-signature.ts";

it("signs the body alone, with the time beside it, under both names", () => {
  const v1 = createHmac("sha256", "secret").update('{"a":1}').digest("hex");
  const signature = `t=1700000000000,v1=${v1}`;
  expect(signBody("secret", '{"a":1}', 1_700_000_000_000)).toEqual({
    "service-signature": signature,
    "livepeer-signature": signature,
  });
});
