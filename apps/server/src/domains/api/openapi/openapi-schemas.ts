import { describeField, namedSchemas, schemaDescriptions } from "@weir/contract/descriptions";
import type { Json } from "./openapi-types.ts";

const textOf = (schema: unknown): string => JSON.stringify(schema);

/** A copy of an optional schema is another object with the same text. Where two names have one text, the first is used inside others. */
const nameOfText = new Map([...namedSchemas].reverse().map(([name, schema]) => [textOf(schema), name]));
const nameOfSchema = new Map([...namedSchemas].map(([name, schema]) => [schema, name]));

/** Writes schemas of the contract as schemas of OpenAPI 3.1, and collects those with a name as components. */
export class OpenApiSchemas {
  readonly #components = new Map<string, Json>();

  /** Every named schema that was used so far. */
  get components(): Json {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => a.localeCompare(b)));
  }

  /** A reference if the schema has a name, otherwise the schema itself. */
  write(schema: object): Json {
    const name = nameOfSchema.get(schema) ?? nameOfText.get(textOf(schema));
    return name === undefined ? this.#inline(schema) : this.#reference(name);
  }

  #reference(name: string): Json {
    if (!this.#components.has(name)) {
      // Set before its content is written, so that a schema may contain itself.
      this.#components.set(name, {});
      const schema = withFields(this.#inline(namedSchemas.get(name) as object), name);
      const descriptions: Readonly<Record<string, string>> = schemaDescriptions;
      this.#components.set(name, { ...schema, description: descriptions[name] });
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #inline(schema: object): Json {
    const written = Object.entries(schema).map(([keyword, value]) => [keyword, this.#keyword(keyword, value)]);
    return tupled(Object.fromEntries(written));
  }

  #keyword(keyword: string, value: unknown): unknown {
    if (keyword === "properties" || keyword === "patternProperties")
      return Object.fromEntries(Object.entries(value as object).map(([name, inner]) => [name, this.write(inner)]));
    const isList = keyword === "anyOf" || (keyword === "items" && Array.isArray(value));
    if (isList) return (value as object[]).map((inner) => this.write(inner));
    const isSchema = (keyword === "items" || keyword === "additionalProperties") && typeof value === "object";
    return isSchema ? this.write(value as object) : value;
  }
}

/** TypeBox writes tuples as JSON Schema's draft 7 does; since draft 2020-12, which OpenAPI 3.1 uses, the list is `prefixItems`. */
function tupled(schema: Json): Json {
  if (!Array.isArray(schema.items)) return schema;
  const { items, additionalItems: _, ...rest } = schema;
  return { ...rest, prefixItems: items, items: false, maxItems: (items as unknown[]).length };
}

/** The fields of a written schema, and those of objects in it that have no name, with a description for each. */
function withFields(schema: Json, path: string): Json {
  const inner = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    if (keyword === "anyOf") return [keyword, (value as Json[]).map((one) => withFields(one, path))];
    if (keyword === "items" && typeof value === "object") return [keyword, withFields(value as Json, path)];
    if (keyword !== "properties") return [keyword, value];
    const fields = Object.entries(value as Record<string, Json>).map(([name, field]) => [
      name,
      withField(withFields(field, `${path}.${name}`), `${path}.${name}`),
    ]);
    return [keyword, Object.fromEntries(fields)];
  });
  return Object.fromEntries(inner);
}

/** A reference has the description of the object that it leads to. Of a choice, the first member says what it is about. */
function withField(field: Json, path: string): Json {
  if (field.description !== undefined || field.$ref !== undefined) return field;
  const members = (field.anyOf ?? []) as Json[];
  const description =
    members.find((one) => one.description !== undefined)?.description ??
    (members.some((one) => one.$ref !== undefined) ? undefined : describeField(path));
  return description === undefined ? field : { ...field, description };
}
