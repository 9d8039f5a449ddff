import type { Access, AccessRule } from "@weir/contract";
import { describe, expect, it } from "vitest";
import { allowsOrigin, checkAccess, isUnrestricted, partsOf, refusalOf } from "./access.ts";

const rule = (methods: AccessRule["methods"], ...resources: string[]): AccessRule => ({ methods, resources });
const may = (access: Access | null, method: string, path: string) =>
  refusalOf(access, { method, path: partsOf(path) }) === null;
const page: Access = { cors: { allowedOrigins: ["https://app.test"] } };

describe("rules", () => {
  it.each<[AccessRule[], string, string, boolean]>([
    [[], "get", "stream", false],
    [[rule(["*"], "*")], "delete", "stream/a/terminate", true],
    [[rule(["get"], "*")], "get", "stream/a", true],
    [[rule(["get"], "*")], "head", "stream/a", true],
    [[rule(["get"], "*")], "post", "stream", false],
    [[rule(["get"], "stream")], "get", "stream/a", false],
    [[rule(["get"], "/stream/:id")], "get", "stream/a", true],
    [[rule(["get"], "/api/stream/:id")], "get", "stream/a", true],
    [[rule(["get"], "stream/:id")], "get", "stream/a/sessions", false],
    [[rule(["get"], "stream/*")], "get", "stream/a/sessions", true],
    [[rule(["get"], "stream/*")], "get", "stream", false],
    [[rule(["get"], "stream/*")], "get", "streams/a", false],
    [[rule(["get"], "stream/a")], "get", "stream/b", false],
    [[rule(["get"], "session"), rule(["post"], "stream")], "post", "stream", true],
    [[rule(["get"], "session"), rule(["post"], "stream")], "post", "session", false],
  ])("%j: %s %s is %s", (rules, method, path, allowed) => expect(may({ rules }, method, path)).toBe(allowed));

  it("a part with a slash in it is one part, so it opens nothing", () => {
    const access = { rules: [rule(["get"], "stream/:id/sessions")] };
    expect(refusalOf(access, { method: "get", path: ["stream", "a/sessions"] })).not.toBeNull();
  });

  it("no rules allow everything, and nothing but them says so", () => {
    expect([null, {}, { cors: { allowedOrigins: ["*"], fullAccess: true } }].every(isUnrestricted)).toBe(true);
    expect([{ rules: [] }, { rules: [rule(["*"], "*")] }, page].some(isUnrestricted)).toBe(false);
  });
});

describe("keys of pages", () => {
  it.each([
    ["get", "stream/a/sessions"],
    ["get", "session/a"],
    ["patch", "stream/a"],
    ["post", "stream"],
    ["post", "asset/request-upload"],
    ["get", "data/views/query/creator"],
  ])("may %s %s", (method, path) => expect(may(page, method, path)).toBe(true));

  it.each([
    ["get", "stream"],
    ["delete", "stream/a"],
    ["delete", "stream/a/terminate"],
    ["get", "session"],
    ["post", "api-token"],
    ["get", "dashboard/settings"],
  ])("may not %s %s", (method, path) =>
    expect(refusalOf(page, { method, path: path.split("/") })).toBe(
      "access forbidden for CORS-enabled API key with restricted access",
    ),
  );

  it("with full access, or with rules, are not held to that set", () => {
    expect(may({ cors: { allowedOrigins: ["*"], fullAccess: true } }, "delete", "stream/a")).toBe(true);
    expect(may({ ...page, rules: [rule(["delete"], "stream/:id")] }, "delete", "stream/a")).toBe(true);
    expect(may({ ...page, rules: [rule(["delete"], "stream/:id")] }, "post", "stream")).toBe(false);
  });

  it.each([
    ["https://app.test", true],
    ["https://app.test.evil", false],
    ["https://app.test:8443", false],
    ["http://app.test", false],
    ["null", false],
  ])("an origin is compared whole: %s", (origin, allowed) => expect(allowsOrigin(page, origin)).toBe(allowed));
});

describe("what a key cannot be given", () => {
  it.each<[Access, string]>([
    [{ rules: [rule(["get"], "str*m")] }, 'Bad access rules: "str*m"'],
    [{ rules: [rule(["get"], "stream//a")] }, 'Bad access rules: "stream//a"'],
    [{ rules: [rule(["get"], "stream/*/sessions")] }, 'Bad access rules: "stream/*/sessions"'],
    [{ rules: [rule(["get"], "stream/:id", "/stream/:name")] }, 'get "/stream/:name" is there twice'],
    [{ cors: { allowedOrigins: ["app.test"] } }, 'Bad CORS origin: "app.test"'],
    [{ cors: { allowedOrigins: ["https://app.test/"] } }, 'Bad CORS origin: "https://app.test/"'],
    [{ cors: { allowedOrigins: ["null"] } }, 'Bad CORS origin: "null"'],
  ])("%j", (access, text) => expect(() => checkAccess(access)).toThrow(text));

  it("anything else is taken", () => {
    checkAccess({
      rules: [rule(["get", "post"], "stream", "stream/*", "*")],
      cors: { allowedOrigins: ["*", "http://a:1"] },
    });
  });
});
