import { ApiError } from "../api/index.ts";

export class TooManyClips extends ApiError {
  constructor() {
    super(403, "too-many-clips", "Too many clips are being processed.");
  }
}

/** The body fits its schema, and no clip can be made of it. */
export class ImpossibleClip extends ApiError {
  constructor(message: string) {
    super(422, "impossible-clip", message);
  }
}
