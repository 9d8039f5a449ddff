import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { DatabaseAway } from "../database-away.ts";
import type { Log } from "../log.ts";
import { errorBody } from "./error-body.ts";
import type { KnownPaths } from "./known-paths.ts";
import { sentenceOf, validatorText } from "./validation-sentence.ts";

/** Sent with every 503, because each 503 is about a temporary state. */
const RETRY_AFTER_SECONDS = 5;
const SHOWN_LENGTH = 200;

/** The server's own codes, as opposed to those of the framework and of Node. */
const PUBLIC_CODE = /^[a-z]+(-[a-z]+)*$/;

/** Codes of errors that bring none of their own. */
const CODE_OF_STATUS = {
  400: "bad-request",
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found",
  405: "method-not-allowed",
  413: "body-too-large",
  414: "bad-address",
  415: "unsupported-media-type",
  429: "too-many-requests",
  501: "not-implemented",
} as const satisfies Readonly<Record<number, string>>;

/** Every code that the HTTP edge itself sends. */
export type HttpErrorCode =
  | (typeof CODE_OF_STATUS)[keyof typeof CODE_OF_STATUS]
  | "invalid-body"
  | "bad-json"
  | "internal"
  | "unknown-path"
  | "unsupported-encoding"
  | "database-away"
  | "database-busy";

type Failure = Partial<FastifyError> & Error;

/**
 * `{"errors": […], "message", "code", "requestId"}` for every failure, on every route. Errors carry their HTTP status in `statusCode`, 400 to 599,
 * and their kind in `code`.
 */
export function answerError(log: Log) {
  return (error: Failure, request: FastifyRequest, reply: FastifyReply) => {
    const requestId = request.id;
    const [first] = error.validation ?? [];
    if (first) {
      const code: HttpErrorCode = "invalid-body";
      const body = { code, message: sentenceOf(first), validation: validatorText(first), requestId };
      return reply.code(422).send(errorBody(body));
    }
    const { statusCode = 500 } = error;
    const answer = { code: codeOf(error), message: messageOf(error, request), requestId };
    if (statusCode >= 400 && statusCode < 500) return reply.code(statusCode).send(errorBody(answer));
    if (statusCode === 503) reply.header("retry-after", RETRY_AFTER_SECONDS);
    if (statusCode !== 501) logFailure(log, error, reply);
    if (statusCode > 500 && statusCode < 600) return reply.code(statusCode).send(errorBody(answer));
    const code: HttpErrorCode = "internal";
    const message = `Internal server error: ${error.name}. The server's log has the cause under the request id ${requestId}.`;
    return reply.code(500).send(errorBody({ code, message, requestId }));
  };
}

function logFailure(log: Log, error: Failure, reply: FastifyReply): void {
  // The pool logs once that the database is unavailable; a line per failed request would flood the log.
  const level = error instanceof DatabaseAway || isAbandoned(error, reply) ? "debug" : "error";
  const { id: requestId, method, routeOptions } = reply.request;
  log[level]({ err: error, requestId, method, route: routeOptions.url }, "a request failed");
}

/** What a stream reports when its reader is gone. */
const GONE = new Set(["ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "EPIPE"]);

/** The client left before the answer began, which is its right and no fault of the server. */
function isAbandoned({ code }: Failure, reply: FastifyReply): boolean {
  return reply.raw.destroyed && GONE.has(code ?? "");
}

/** No route matched: the address is unknown, or has other methods. `docs` is the address of the API's description. */
export function answerUnrouted(paths: KnownPaths, docs: string) {
  return (request: FastifyRequest, reply: FastifyReply) => {
    const { method, id: requestId } = request;
    const path = request.url.split("?", 1)[0] ?? "";
    const shown = path.slice(0, SHOWN_LENGTH);
    const allowed = paths.methodsOf(path).filter((name) => name !== method);
    if (allowed.length > 0) {
      const code: HttpErrorCode = "method-not-allowed";
      const message = `${shown} does not take ${method}. It takes ${allowed.join(", ")}.`;
      return reply.code(405).header("allow", allowed.join(", ")).send(errorBody({ code, message, requestId, docs }));
    }
    const code: HttpErrorCode = "unknown-path";
    const message = `not found: there is no operation ${method} ${shown}. ${docs} links to a description of every operation.`;
    return reply.code(404).send(errorBody({ code, message, requestId, docs }));
  };
}

/** An address that cannot be decoded, or has a part that is too long. It is refused before any hook runs. */
export function answerBadAddress({ statusCode = 400 }: FastifyError, request: FastifyRequest, reply: FastifyReply) {
  const code: HttpErrorCode = "bad-address";
  const message =
    statusCode === 414
      ? "A part of the address is longer than 500 characters."
      : "The address cannot be decoded: percent-encode each part of its path once.";
  return reply.code(statusCode).send(errorBody({ code, message, requestId: request.id }));
}

function codeOf({ code, statusCode = 500 }: Failure): string {
  if (code !== undefined && PUBLIC_CODE.test(code)) return code;
  const known: Readonly<Record<number, HttpErrorCode>> = CODE_OF_STATUS;
  return known[statusCode] ?? (statusCode < 500 ? "bad-request" : "internal");
}

/** The framework's own messages name its internals; its senders need to know what to send instead. */
function messageOf({ code, message }: Failure, { headers }: FastifyRequest): string {
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") return "The body is larger than 1 MiB.";
  if (code !== "FST_ERR_CTP_INVALID_MEDIA_TYPE") return message;
  const type = headers["content-type"];
  const problem =
    type === undefined ? "The body has no Content-Type" : `The body's Content-Type is ${type.slice(0, SHOWN_LENGTH)}`;
  return `${problem}. Send JSON, with the header Content-Type: application/json.`;
}
