import { ApiError } from "../api/index.ts";

export class TooManyTerminates extends ApiError {
  constructor() {
    super(429, "too-many-terminates", "too many terminate requests");
  }
}

export class MissingIds extends ApiError {
  constructor() {
    super(422, "missing-ids", "missing ids");
  }
}

export class MissingSuspended extends ApiError {
  constructor() {
    super(422, "missing-suspended", "missing suspended property");
  }
}

export class TestBroadcastRefused extends ApiError {
  constructor() {
    super(400, "stream-suspended", "a suspended stream takes no broadcast; send suspended: false first");
  }
}

export class TooManyStreams extends ApiError {
  constructor(most: number) {
    super(
      400,
      "too-many-streams",
      `a project may have ${most} streams: delete one that is not needed, or ask the operator to raise the limit`,
    );
  }
}

export class TooManyTestBroadcasts extends ApiError {
  constructor(most: number) {
    super(429, "too-many-test-broadcasts", `${most} test broadcasts of this project are running: wait for one to end`);
  }
}
