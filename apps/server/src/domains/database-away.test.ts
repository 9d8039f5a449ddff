import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDomains, type TestDomains } from "./domain-test-kit.ts";

let kit: TestDomains;
let cookie: string;

beforeAll(async () => {
  kit = await startTestDomains();
  const signedIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
  cookie = String(signedIn.headers["set-cookie"]).split(";")[0] ?? "";
  expect(signedIn.statusCode).toBe(204);
  await kit.stopDatabase();
});

afterAll(() => kit[Symbol.asyncDispose]());

it.each([
  ["with a key", "GET", "/api/stream", undefined, undefined],
  ["with a key that nobody has", "GET", "/api/stream", undefined, { authorization: "Bearer wrong" }],
  ["that changes something", "POST", "/api/stream", { name: "stage" }, undefined],
  ["of the dashboard", "GET", "/api/stream", undefined, "cookie"],
  ["to sign in with a key", "POST", "/api/dashboard/sign-in", { apiKey: "some key" }, {}],
  ["to sign in with a password", "POST", "/api/dashboard/log-in", { name: "ann", password: "correct horse" }, {}],
  ["of a player", "GET", "/api/playback/abcdabcdabcdabcd", undefined, {}],
] as const)(
  "while the database is away a request %s is 503 and says when to try again",
  async (_, method, url, body, headers) => {
    const answer = await kit.call(method, url, body, headers === "cookie" ? { cookie } : headers);
    const message = "the database does not answer right now: try again in a few seconds";
    expect([answer.statusCode, answer.headers["retry-after"], answer.json()]).toEqual([
      503,
      "5",
      {
        errors: [message],
        message,
        code: "database-away",
        docs: "/docs/errors/database-away",
        requestId: answer.headers["x-request-id"],
      },
    ]);
  },
);
