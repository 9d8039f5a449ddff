import { routes } from "@weir/contract";
import { afterAll, describe, expect, it } from "vitest";
import { startTestDomains } from "./domain-test-kit.ts";

/* Hostile input 88, on every list there is: a route whose query takes a cursor and whose address names nothing. */

const kit = await startTestDomains();
afterAll(() => kit[Symbol.asyncDispose]());

const signedIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
const dashboard = { cookie: String(signedIn.headers["set-cookie"]).split(";")[0] ?? "" };
const lists = Object.values(routes)
  .filter((route) => "query" in route && "cursor" in route.query.properties && !route.path.includes(":"))
  .map(({ path }) => path);
const get = (path: string, query: string) => kit.call("GET", `${path}?${query}`, undefined, dashboard);
const filtered = (...filters: unknown[]) => `filters=${encodeURIComponent(JSON.stringify(filters))}`;

it("there are lists", () => {
  expect(lists).toEqual(expect.arrayContaining(["/api/stream", "/api/session", "/api/person", "/api/api-token"]));
});

describe.each(lists)("%s", (path) => {
  const text = path === "/api/task" ? "type" : "name";
  it.each([
    "cursor=forged",
    "cursor=skip-1",
    "cursor=skip1%20or%201=1",
    `cursor=${"9".repeat(400)}`,
    "filters=nope",
    filtered(null),
    filtered({ id: "id; drop table stream", value: "x" }),
    filtered({ id: "constructor", value: "x" }),
    filtered({ id: text, value: "\0" }),
    filtered({ id: "createdAt", value: { "gte 0 or": 1 } }),
    filtered({ id: "createdAt", value: { gte: "0; select 1" } }),
    filtered(...Array(21).fill({ id: text, value: "x" })),
  ])("400: %s", async (query) => {
    const answer = await get(path, query);
    expect([answer.statusCode, answer.json().errors[0]]).toEqual([
      400,
      expect.stringMatching(/^error parsing (cursor|filters): /),
    ]);
  });

  it("is never longer than 1000, however much is asked for, and an injected order is ignored", async () => {
    for (const query of [
      "limit=1e99",
      "limit=-5",
      "order=name;drop%20table%20stream-true",
      "order=(select%201)-true",
    ]) {
      const answer = await get(path, query);
      expect([query, answer.statusCode]).toEqual([query, 200]);
      expect(answer.json().length).toBeLessThanOrEqual(1000);
    }
  });

  it("a filter's value is data", async () => {
    const answer = await get(path, filtered({ id: text, value: "%' or '1'='1" }));
    expect([answer.statusCode, answer.json()]).toEqual([200, []]);
  });
});
