import type { FastifySchemaValidationError } from "fastify";

const SHOWN_LENGTH = 200;

/** What a schema says in words about the texts that its pattern allows: `"x-expects": "an address that begins with https://"`. */
export const EXPECTS = "x-expects";

/** The validator's error, with the schema that it is about (Ajv's `verbose`). */
interface ValidationError extends FastifySchemaValidationError {
  readonly parentSchema?: Readonly<Record<string, unknown>>;
}

/** For people, next to the validator's own object for programs: `profiles.0.width must be >= 128`. */
export function sentenceOf(error: ValidationError): string {
  const { instancePath, keyword, message = "does not fit its schema", params, parentSchema } = error;
  const field = instancePath.slice(1).replaceAll("/", ".").slice(0, SHOWN_LENGTH) || "the body";
  const { additionalProperty, allowedValues } = params;
  if (typeof additionalProperty === "string")
    return `${field} has the unknown field ${JSON.stringify(additionalProperty.slice(0, SHOWN_LENGTH))}`;
  if (keyword === "pattern") return `${field} must be ${String(parentSchema?.[EXPECTS] ?? "a text of another form")}`;
  const allowed = Array.isArray(allowedValues) ? `: ${allowedValues.join(", ")}` : "";
  return `${field} ${message}${allowed}`;
}

/** For programs. Without what `verbose` adds: the schema is long, and the value may be a secret. */
export function validatorText({ instancePath, schemaPath, keyword, params, message }: ValidationError): string {
  return JSON.stringify({ instancePath, schemaPath, keyword, params, message });
}
