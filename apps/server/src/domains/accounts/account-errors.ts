import { ApiError } from "../api-error.ts";

/** Who asks is not known. The texts are those that clients of this API know. */
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
