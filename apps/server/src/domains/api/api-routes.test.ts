import type { AnswerOf, routes, Session } from "@weir/contract";
import { afterAll, beforeAll, expect, expectTypeOf, it } from "vitest";
import { startTestDomains, type TestDomains } from "../domain-test-kit.ts";
import type { ALREADY_SENT, ApiRoutes } from "./api-routes.ts";

let kit: TestDomains;

beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());

it("a handler whose answer lacks a field of its schema does not build", () => {
  type Handler = Parameters<typeof ApiRoutes.prototype.on<typeof routes.getSession>>[1];
  expectTypeOf<() => Promise<Session>>().toExtend<Handler>();
  expectTypeOf<() => Promise<typeof ALREADY_SENT>>().toExtend<Handler>();
  expectTypeOf<() => Promise<Omit<Session, "id">>>().not.toExtend<Handler>();
  expectTypeOf<AnswerOf<typeof routes.deleteStream>>().toEqualTypeOf<void>();
});

it("an error says what it is by a code, and in words", async () => {
  const unknown = await kit.call("GET", "/api/stream/00000000-0000-4000-8000-000000000000");
  expect(unknown.json()).toEqual({
    errors: ["not found"],
    message: "not found",
    code: "not-found",
    requestId: unknown.headers["x-request-id"],
    docs: "/docs/errors/not-found",
  });
  const misshapen = await kit.call("POST", "/api/stream", { name: 7 });
  expect(misshapen.json()).toMatchObject({ errors: [expect.stringContaining("string")], code: "invalid-body" });
});
