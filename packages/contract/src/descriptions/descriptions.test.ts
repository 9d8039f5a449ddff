import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { ERROR_CODES, laterRoutes, type Route, routes, WEBHOOK_EVENTS, WebhookDelivery } from "../index.ts";
import { AccessQuestion, accessQuestion } from "./event-descriptions.ts";
import {
  type Description,
  describePathParameter,
  describeQueryParameter,
  descriptions,
  errorsOf,
  eventDescriptions,
  namedSchemas,
  operationGroups,
  publicNames,
  schemaDescriptions,
} from "./index.ts";

interface Described {
  readonly name: string;
  readonly route: Route;
  readonly description: Description;
}

const LONG_ENOUGH = 40;
const described: Described[] = publicNames.map((name) => ({
  name,
  route: routes[name],
  description: descriptions[name],
}));

/** The first reason why a value does not fit; null if it does. */
const misfit = (schema: object, value: unknown): unknown =>
  Value.Check(schema as TSchema, value) ? null : Value.Errors(schema as TSchema, value)[0];

describe("every public operation", () => {
  it.each(described)("$name says more than its summary", ({ route, description: { description } }) => {
    expect(description.length).toBeGreaterThan(LONG_ENOUGH);
    expect(description).not.toBe(route.summary);
    expect(description).toMatch(/[.!]$/);
  });

  it.each(described)("$name has an example that fits its schemas", ({ route, description: { example, looseBody } }) => {
    expect(misfit(route.success.body ?? {}, example.answer)).toBeNull();
    if (route.body) expect(misfit(route.body, example.body)).toBeNull();
    if (looseBody) expect(misfit(looseBody.schema, looseBody.example)).toBeNull();
    for (const name of Object.keys(example.query ?? {})) expect(propertiesOf(route.query)).toHaveProperty(name);
  });

  it.each(described)("$name names an error for each status that its route declares", ({ route, description }) => {
    const statuses = errorsOf(route, description).flatMap((code): readonly number[] => ERROR_CODES[code].statuses);
    expect(statuses).toEqual(expect.arrayContaining([...route.failures]));
  });

  it("says so where its status is the public API's, and another than that of its like", () => {
    // They store nothing.
    const answers = ["tryAccess", "createOwnerToken", "tryPull"];
    for (const { name, route, description } of described) {
      const { status } = route.success;
      const creates = route.method === "POST" && !route.path.includes(":") && !answers.includes(name);
      if (creates && status === 200)
        expect([name, description.description]).toEqual([name, expect.stringContaining("200 where")]);
      if (route.method === "PATCH" && status === 204)
        expect([name, description.description]).toEqual([name, expect.stringContaining("204 without")]);
    }
  });

  it.each(described)("$name describes each of its parameters", ({ route }) => {
    for (const [, name = ""] of route.path.matchAll(/:(\w+)/g))
      expect([name, describePathParameter(route.path, name)]).toEqual([name, expect.stringMatching(/.{10}/)]);
    for (const [name, { description }] of Object.entries(propertiesOf(route.query)))
      expect([name, description ?? describeQueryParameter(name)]).toEqual([name, expect.stringMatching(/.{5}/)]);
  });

  it("stands in one group", () => {
    const names = operationGroups.flatMap((group) => Object.keys(group.descriptions));
    expect(names.sort()).toEqual([...publicNames].sort());
  });

  it("is neither the dashboard's alone, nor a second address, nor answered by 501", () => {
    const paths = described.map(({ route }) => `${route.method} ${route.path}`);
    const others = Object.values(routes).filter(({ method, path }) => !paths.includes(`${method} ${path}`));
    for (const { auth, path } of others as Route[])
      expect(auth === "dashboard" || /^\/(data|analytics|api\/dashboard)\//.test(path)).toBe(true);
    for (const { method, path } of laterRoutes) expect(paths).not.toContain(`${method} ${path}`);
  });
});

it("every event that can be delivered has an example that fits", () => {
  const events = Object.keys(eventDescriptions);
  const never = ["stream.detection", "playback.accessControl"];
  expect([...events, ...never].sort()).toEqual([...WEBHOOK_EVENTS].sort());
  for (const [event, { example }] of Object.entries(eventDescriptions)) {
    expect(misfit(WebhookDelivery, example)).toBeNull();
    expect(example.event).toBe(event);
  }
  expect(misfit(AccessQuestion, accessQuestion.example)).toBeNull();
});

it("every named schema is a schema of the contract", () => {
  for (const [name, schema] of namedSchemas) expect([name, typeof schema]).toEqual([name, "object"]);
  expect([...namedSchemas.keys()]).toEqual(Object.keys(schemaDescriptions));
});

function propertiesOf(schema: TSchema | undefined): Readonly<Record<string, { readonly description?: string }>> {
  return (schema as { properties?: Record<string, { description?: string }> } | undefined)?.properties ?? {};
}
