import { expect, test } from "vitest";
import { accessOf, kindOf } from "./api-key-access.ts";

const page = ["https://app.example.com"];

test.each([
  ["full", [], undefined],
  ["read", [], { rules: [{ resources: ["*"], methods: ["get"] }] }],
  ["full", page, { cors: { allowedOrigins: page, fullAccess: true } }],
  ["read", page, { rules: [{ resources: ["*"], methods: ["get"] }], cors: { allowedOrigins: page } }],
  ["page", page, { cors: { allowedOrigins: page } }],
] as const)("%s for %j is asked for, and known again", (kind, origins, access) => {
  expect(accessOf(kind, origins)).toEqual(access);
  expect(kindOf(accessOf(kind, origins))).toBe(kind);
});

test("rules of another making are called rules", () => {
  expect(kindOf({ rules: [] })).toBe("rules");
  expect(kindOf({ rules: [{ resources: ["stream/*"], methods: ["get"] }] })).toBe("rules");
});

test("the server may tell a rule's fields in another order", () => {
  expect(kindOf({ rules: [{ methods: ["get"], resources: ["*"] }] })).toBe("read");
});
