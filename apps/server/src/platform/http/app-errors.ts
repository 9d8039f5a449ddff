import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from "fastify";
import { DatabaseAway } from "../database-away.ts";
import type { Log } from "../log.ts";

/** Sent with every 503, because each 503 is about a temporary state. */
const RETRY_AFTER_SECONDS = 5;
const SHOWN_NAME_LENGTH = 200;

/** The server's own codes, as opposed to those of the framework and of Node. */
const PUBLIC_CODE = /^[a-z]+(-[a-z]+)*$/;

/**
 * `{"errors": […], "code"}` for every failure, on every route. Errors carry their HTTP status in `statusCode`, 400 to 599, and their kind in
 * `code`.
 */
export function answerError(log: Log) {
  return (error: Partial<FastifyError> & Error, request: FastifyRequest, reply: FastifyReply) => {
    if (error.validation) {
      const [first] = error.validation;
      return reply
        .code(422)
        .send({ errors: [JSON.stringify(first)], code: "invalid-body", message: sentenceOf(first) });
    }
    const { statusCode = 500 } = error;
    if (statusCode >= 400 && statusCode < 500) return reply.code(statusCode).send(bodyOf(error));
    if (statusCode === 503) reply.header("retry-after", RETRY_AFTER_SECONDS);
    // The pool logs once that the database is unavailable; a line per failed request would flood the log.
    const level = error instanceof DatabaseAway ? "debug" : "error";
    log[level]({ err: error, method: request.method, route: request.routeOptions.url }, "a request failed");
    if (statusCode > 500 && statusCode < 600) return reply.code(statusCode).send(bodyOf(error));
    return reply.code(500).send({ errors: [`Internal server error: ${error.name}`] });
  };
}

/** For people, next to the validator's own object for programs: `profiles.0.width must be >= 128`. */
function sentenceOf(error: FastifySchemaValidationError | undefined): string {
  const { instancePath = "", message = "does not fit its schema", params = {} } = error ?? {};
  const field = instancePath.slice(1).replaceAll("/", ".") || "the body";
  const { additionalProperty, allowedValues } = params;
  if (typeof additionalProperty === "string")
    return `${field} has the unknown field ${JSON.stringify(additionalProperty.slice(0, SHOWN_NAME_LENGTH))}`;
  const allowed = Array.isArray(allowedValues) ? `: ${allowedValues.join(", ")}` : "";
  return `${field.slice(0, SHOWN_NAME_LENGTH)} ${message}${allowed}`;
}

function bodyOf({ message, code }: Partial<FastifyError> & Error) {
  return code !== undefined && PUBLIC_CODE.test(code) ? { errors: [message], code } : { errors: [message] };
}
