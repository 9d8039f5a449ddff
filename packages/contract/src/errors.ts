import { type Static, Type } from "typebox";

/**
 * The body of every error response, with one text. If a request body does not fit its schema (422), the text is the Ajv error object as JSON:
 * `{instancePath, schemaPath, keyword, params, message}`.
 */
export const ErrorBody = Type.Object({
  errors: Type.Array(Type.String()),
  message: Type.Optional(
    Type.String({ description: "The error as a sentence, also where `errors` contains a validator's object (422)" }),
  ),
  code: Type.Optional(
    Type.String({ description: "The kind of error, for programs, such as `not-found`. More kinds may be added" }),
  ),
  requestId: Type.Optional(
    Type.String({ description: "Identifies the request in the server's log; also in the header `X-Request-Id`" }),
  ),
  docs: Type.Optional(
    Type.String({ description: "Path of a page that helps: about the code, or the API's description" }),
  ),
});
export type ErrorBody = Static<typeof ErrorBody>;
