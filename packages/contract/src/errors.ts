import { type Static, Type } from "typebox";

/**
 * The body of every error response, with one text. If a request body does not fit its schema (422), the text is the Ajv error object as JSON:
 * `{instancePath, schemaPath, keyword, params, message}`.
 */
export const ErrorBody = Type.Object({
  errors: Type.Array(Type.String()),
  message: Type.Optional(
    Type.String({ description: "The same as a sentence, if `errors` contains a validator's object (422)" }),
  ),
  code: Type.Optional(Type.String({ description: "Machine-readable code, such as `not-found`" })),
});
export type ErrorBody = Static<typeof ErrorBody>;
