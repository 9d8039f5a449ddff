/** An answer other than success that the API gives on purpose. Slices extend it; the HTTP edge turns it into `{errors: [message]}`. */
export class ApiError extends Error {
  readonly statusCode: number;
  readonly code: string;
  constructor(statusCode: number, code: string, message: string) {
    super(message);
    this.statusCode = statusCode;
    this.code = code;
  }
}

/** Unknown, deleted and other people's things are told apart by nobody. */
export class NotFound extends ApiError {
  constructor(message = "not found") {
    super(404, "not-found", message);
  }
}

/** Too often; a `Retry-After` header says when to come again. */
export class TooManyRequests extends ApiError {
  constructor(message: string) {
    super(429, "too-many-requests", message);
  }
}

/** The request fits the schema and still makes no sense; the text is for the caller. */
export class BadRequest extends ApiError {
  constructor(message: string) {
    super(400, "bad-request", message);
  }
}

/** The caller is not known. The texts are those that clients of this API know. */
export class Unauthenticated extends ApiError {
  constructor(message = "request is not authenticated") {
    super(401, "unauthenticated", message);
  }
}

export class Forbidden extends ApiError {
  constructor(message: string) {
    super(403, "forbidden", message);
  }
}
