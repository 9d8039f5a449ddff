import { ApiError } from "../api/index.ts";

export class NoTargetHost extends ApiError {
  constructor() {
    super(422, "bad-url", "Bad URL of a multistream target: expected srt://, rtmp:// or rtmps:// with a host");
  }
}
