import { type Static, Type } from "typebox";

/**
 * The body of every error answer. One text; of a body that does not fit its schema (422) the text is the Ajv error object as JSON:
 * `{instancePath, schemaPath, keyword, params, message}`.
 */
export const ErrorBody = Type.Object({
  errors: Type.Array(Type.String()),
  message: Type.Optional(
    Type.String({ description: "The same as a sentence, where `errors` has a validator's object (422)" }),
  ),
  code: Type.Optional(Type.String({ description: "What went wrong, for programs: such as `not-found`" })),
});
export type ErrorBody = Static<typeof ErrorBody>;
