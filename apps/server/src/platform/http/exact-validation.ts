import { AjvCompiler } from "@fastify/ajv-compiler";
import type { FastifySchemaCompiler } from "fastify";
import { EXPECTS } from "./validation-sentence.ts";

const OPTIONS = {
  coerceTypes: false,
  useDefaults: false,
  removeAdditional: false,
  allErrors: false,
  // The sentence about a failed pattern needs the schema's own words.
  verbose: true,
  keywords: [EXPECTS],
};

/** Takes values as they are. A route's schema is compiled when it is first asked for: all of them together are a seventh of what a start costs. */
export function exactValidation(): FastifySchemaCompiler<unknown> {
  const build = AjvCompiler()({}, { customOptions: OPTIONS });
  return (route) => {
    let validate: ReturnType<typeof build> | undefined;
    return (value: unknown) => {
      validate ??= build(route);
      return validate(value) ? true : { error: validate.errors ?? [] };
    };
  };
}
