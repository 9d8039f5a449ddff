import { addressOf, headingId, table } from "./docs-page.ts";

/** A schema of the OpenAPI document. */
export interface DocumentedSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly DocumentedSchema[];
  readonly items?: DocumentedSchema | false;
  readonly prefixItems?: readonly DocumentedSchema[];
  readonly properties?: Readonly<Record<string, DocumentedSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

/** The page that has every named schema. */
export const OBJECTS_PATH = "reference/objects";

/** The type of a schema in a few words, as Markdown. */
export function typeText(schema: DocumentedSchema): string {
  const { $ref, anyOf, items, prefixItems } = schema;
  if ($ref !== undefined) {
    const name = $ref.split("/").at(-1) ?? "";
    return `[${name}](${addressOf(OBJECTS_PATH)}#${headingId(name)})`;
  }
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  if (anyOf && anyOf.length > 0) return anyOf.map(typeText).join(" or ");
  if (prefixItems) return `[${prefixItems.map(typeText).join(", ")}]`;
  if (schema.type === "array") return items ? `list of ${typeText(items)}` : "list";
  return schema.type ?? "any value";
}

/** The named schemas of the document. */
export type DocumentedSchemas = Readonly<Record<string, DocumentedSchema>>;

/** The fields of an object, those of objects without a name included. */
export function fieldTable(schema: DocumentedSchema, schemas: DocumentedSchemas): string {
  return table(["Field", "Type", "Meaning"], fieldRows(schema, schemas, ""));
}

/** In its own words, or else in those of the object that it refers to. */
function meaningOf({ description, $ref, anyOf = [] }: DocumentedSchema, schemas: DocumentedSchemas): string {
  const reference = $ref ?? anyOf.find((one) => one.$ref)?.$ref;
  return description ?? schemas[reference?.split("/").at(-1) ?? ""]?.description ?? "";
}

function fieldRows(
  { properties = {}, required = [] }: DocumentedSchema,
  schemas: DocumentedSchemas,
  prefix: string,
): string[][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const isRequired = required.includes(name) ? "" : " (optional)";
    const own = [`\`${prefix}${name}\``, `${typeText(field)}${isRequired}`, meaningOf(field, schemas)];
    const inner = field.properties ? field : field.items || null;
    const step = field.properties ? "." : "[].";
    return [own, ...(inner?.properties ? fieldRows(inner, schemas, `${prefix}${name}${step}`) : [])];
  });
}
