import { expect, test } from "vitest";
import { credentialInMessage, credentialInQuery } from "./credential.ts";

test("a page's address brings a token or an access key", () => {
  expect(credentialInQuery("?jwt=a.b.c")).toEqual({ name: "jwt", value: "a.b.c" });
  expect(credentialInQuery("?accessKey=k%20k&x=1")).toEqual({ name: "accessKey", value: "k k" });
  expect(credentialInQuery("?jwt=")).toBeNull();
});

test("only a message that says that it brings a credential brings one", () => {
  expect(credentialInMessage({ type: "weir:credential", jwt: "a.b.c" })).toEqual({ name: "jwt", value: "a.b.c" });
  expect(credentialInMessage({ type: "weir:credential", jwt: "x".repeat(8192) })?.name).toBe("jwt");
  for (const other of [
    null,
    "weir:credential",
    { jwt: "a" },
    { type: "weir:credential" },
    { type: "weir:credential", jwt: 1 },
    { type: "weir:credential", jwt: "x".repeat(8193) },
    { type: "weir:credential", __proto__: { jwt: "a.b.c" } },
    JSON.parse('{ "type": "weir:credential", "__proto__": { "jwt": "a.b.c" } }'),
  ])
    expect(credentialInMessage(other)).toBeNull();
});
