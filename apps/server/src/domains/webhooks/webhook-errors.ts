import { ApiError, BadRequest, RefusedUrl } from "../api/index.ts";

export class BadWebhookUrl extends RefusedUrl {
  constructor(why: string) {
    super("webhooks cannot be sent to this url", why);
  }
}

export class TooManyWebhooks extends BadRequest {
  constructor(most: number) {
    super(`a project may have ${most} webhooks: delete one that is not needed`);
  }
}

export class MissingIds extends ApiError {
  constructor() {
    super(422, "missing-ids", "missing ids");
  }
}
