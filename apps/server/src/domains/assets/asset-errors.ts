import { ApiError } from "../api/index.ts";

/** What was asked cannot be done to an asset in this phase. */
export class AssetConflict extends ApiError {
  constructor(message: string) {
    super(422, "asset-conflict", message);
  }
}

export class TooManyUploads extends ApiError {
  constructor(limit: number) {
    super(429, "too-many-uploads", `the project has ${limit} unfinished uploads: finish or delete some`);
  }
}
