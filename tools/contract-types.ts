import * as contract from "@weir/contract";
import { describeField, schemaDescriptions } from "@weir/contract/descriptions";

/** A schema of the contract, as far as types need it. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema | readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly description?: string;
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};
/** Types of the contract that no schema has. */
const OTHERS = `/** One condition of a list: a field, and its value or range. */
export interface ListFilter {
  id: string;
  value: unknown;
}
`;

/**
 * The types of everything that requests and answers contain, as a declaration file that imports nothing: the contract infers them from its
 * schemas, which a customer's compiler should need neither TypeBox nor seconds for.
 */
export function contractTypes(): string {
  const codes = Object.keys(contract.ERROR_CODES);
  const parts = [
    union("ErrorCode", "The kinds of errors that the server knows.", codes),
    union("ConditionType", "The checks of a stream's health.", contract.CONDITION_TYPES),
    OTHERS,
    ...[...named].map(([name, schema]) => declaration(name, schema)),
  ];
  return `// Written by tools/contract-types.ts from the schemas of the API.\n${parts.join("\n")}`;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && ("type" in value || "anyOf" in value || "enum" in value);

const named = new Map(
  Object.entries(contract).flatMap(([name, value]) => (/^[A-Z]/.test(name) && isSchema(value) ? [[name, value]] : [])),
);

/** Optional fields have copies of a schema, and fields may describe it in words of their own. */
const shapeOf = ({ description: _, ...shape }: Schema): string => JSON.stringify(shape);
/** Where two names have one shape, the first is used inside others. What is as short as its name has none there. */
const nameOfShape = new Map(
  [...named]
    .reverse()
    .flatMap(([name, schema]) =>
      schema.type !== undefined && schema.type in PRIMITIVES ? [] : [[shapeOf(schema), name] as const],
    ),
);

function declaration(name: string, schema: Schema): string {
  const about: Readonly<Record<string, string>> = schemaDescriptions;
  const comment = commented(about[name] ?? schema.description, "");
  const type = typeOf(schema, "", name);
  return schema.properties && !schema.anyOf
    ? `${comment}export interface ${name} ${type}\n`
    : `${comment}export type ${name} = ${type};\n`;
}

const union = (name: string, about: string, values: readonly string[]): string =>
  `/** ${about} */\nexport type ${name} = ${values.map((value) => JSON.stringify(value)).join(" | ")};\n`;

/** The type of a field or element: a name if it has one. */
function reference(schema: Schema, indent: string, path: string): string {
  return nameOfShape.get(shapeOf(schema)) ?? typeOf(schema, indent, path);
}

function typeOf(schema: Schema, indent: string, path: string): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.properties) return objectOf(schema, indent, path);
  if (schema.anyOf) return schema.anyOf.map((one) => reference(one, indent, path)).join(" | ");
  if (schema.type === "array") return listOf(schema, indent, path);
  if (schema.type !== "object") return PRIMITIVES[schema.type ?? ""] ?? "unknown";
  const [value = schema.additionalProperties] = Object.values(schema.patternProperties ?? {});
  return `Record<string, ${typeof value === "object" ? reference(value, indent, path) : "unknown"}>`;
}

function listOf({ items }: Schema, indent: string, path: string): string {
  if (items === undefined) return "unknown[]";
  if (Array.isArray(items)) return `[${items.map((item) => reference(item, indent, path)).join(", ")}]`;
  const item = reference(items as Schema, indent, path);
  return /[ {]/.test(item) ? `(${item})[]` : `${item}[]`;
}

function objectOf({ properties = {}, required = [] }: Schema, indent: string, path: string): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, field]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    const about = commented(field.description ?? describeField(`${path}.${name}`), inner);
    const type = reference(field, inner, `${path}.${name}`);
    return `${about}${inner}${key}${required.includes(name) ? "" : "?"}: ${type};\n`;
  });
  return `{\n${fields.join("")}${indent}}`;
}

const commented = (text: string | undefined, indent: string): string =>
  text === undefined ? "" : `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n`;
