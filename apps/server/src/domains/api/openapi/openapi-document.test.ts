import { fileURLToPath } from "node:url";
import { lintFromString, loadConfig } from "@redocly/openapi-core";
import { laterRoutes } from "@weir/contract";
import { EXAMPLE_ORIGIN } from "@weir/contract/descriptions";
import { describe, expect, it } from "vitest";
import { openApiDocument } from "./openapi-document.ts";

interface Field {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Field>>;
  readonly anyOf?: readonly Field[];
  readonly items?: Field | false;
}

const LINT = fileURLToPath(new URL("../../../../../../tools/openapi-lint", import.meta.url));

const document = openApiDocument("1.2.3");
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

describe("the OpenAPI document", () => {
  it("has nothing for Redocly's linter to report beside the public API's own paths", async () => {
    const source = JSON.stringify(document).replaceAll(EXAMPLE_ORIGIN, "https://video.weir.test");
    const config = await loadConfig({ configPath: `${LINT}/redocly.yaml` });
    const problems = await lintFromString({ source, absoluteRef: `${LINT}/openapi.json`, config });
    const reported = problems.filter(({ ignored }) => !ignored);
    expect(reported.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
    // A line of the ignore file that nothing needs any longer would hide the next problem.
    expect(new Set(problems.map(({ ruleId }) => ruleId))).toEqual(new Set(["no-ambiguous-paths"]));
  });

  it("names every operation once", () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(70);
  });

  it("describes data once, and leaves out the dashboard's operations and those that only answer 501", () => {
    const paths = Object.keys(document.paths);
    expect(paths.filter((path) => !path.startsWith("/api"))).toEqual([]);
    expect(paths.filter((path) => path.startsWith("/api/dashboard"))).toEqual([]);
    for (const { path } of laterRoutes) expect(paths).not.toContain(path.replaceAll(/:(\w+)/g, "{$1}"));
  });

  it("refers to components that exist, and has none that nothing refers to", () => {
    const text = JSON.stringify(document);
    const referred = new Set([...text.matchAll(/"#\/components\/(\w+\/[^"]+)"/g)].map(([, name]) => name));
    const { securitySchemes: _, ...components } = document.components as Record<string, object>;
    const present = Object.entries(components).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `${kind}/${name}`),
    );
    expect([...referred].sort()).toEqual(present.sort());
  });

  it("writes a tuple as a list of prefixes, and a shared schema as a reference", () => {
    const { schemas } = document.components as { schemas: Record<string, { properties: Record<string, unknown> }> };
    expect(schemas.HealthMetric?.properties.last).toMatchObject({ prefixItems: [{}, {}], items: false });
    expect(schemas.StreamHealth?.properties.healthy).toEqual({ $ref: "#/components/schemas/Condition" });
    expect(schemas.Stream?.properties.profiles).toMatchObject({
      type: "array",
      items: { $ref: "#/components/schemas/Profile" },
    });
  });

  it("describes every field of a request body, by itself or by the object that it refers to", () => {
    const { schemas } = document.components as { schemas: Record<string, Field> };
    const bare: string[] = [];
    const seen = new Set<string>();
    const visit = (schema: Field, path: string): void => {
      const name = schema.$ref?.split("/").at(-1);
      if (name !== undefined && !seen.has(name)) visit(schemas[seen.add(name) && name] ?? {}, name);
      for (const [field, inner] of Object.entries(schema.properties ?? {})) {
        const refers = [inner, ...(inner.anyOf ?? [])].some(({ $ref }) => $ref !== undefined);
        if (!inner.description && !refers) bare.push(`${path}.${field}`);
        visit(inner, `${path}.${field}`);
      }
      for (const inner of [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]) visit(inner, path);
    };
    for (const { path, operation } of operations)
      for (const { schema } of Object.values(
        (operation.requestBody?.content ?? {}) as Record<string, { schema: Field }>,
      ))
        visit(schema, path);
    expect(seen.size).toBeGreaterThan(20);
    expect(bare).toEqual([]);
  });

  it("has a request id in every error", () => {
    for (const { operation } of operations) {
      const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
      expect(errors.length).toBeGreaterThan(2);
    }
    expect(JSON.stringify(document.components)).toContain("X-Request-Id");
  });
});
