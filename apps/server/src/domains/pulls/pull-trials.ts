import type { Pull, PullTrial } from "@weir/contract";
import type { Clock } from "../../platform/clock.ts";
import { RateLimit } from "../../platform/limits/rate-limit.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import type { MediaControl } from "../../ports/index.ts";
import { BadRequest, TooManyRequests } from "../api/index.ts";
import type { Owner } from "../schema.ts";
import { checkPull } from "./pull-source.ts";

const MAX_PER_MINUTE = 10;
const MINUTE_MS = 60_000;
/** As JSON: it goes to a media node through the database, which carries no more at once. */
const MAX_SOURCE_BYTES = 6_000;

export interface PullTrialsDeps {
  readonly clock: Clock;
  readonly mediaControl: Pick<MediaControl, "trySource">;
  readonly outbound: Pick<Outbound, "refusalOf">;
}

/** Has media nodes try sources, so many a minute for each project: whoever may try any number can search a network for open ports. */
export class PullTrials {
  readonly #deps: PullTrialsDeps;
  readonly #limit: RateLimit;

  constructor(deps: PullTrialsDeps) {
    this.#deps = deps;
    this.#limit = new RateLimit({ clock: deps.clock, quota: MAX_PER_MINUTE, windowMs: MINUTE_MS });
  }

  async try({ projectId }: Owner, pull: Pull): Promise<PullTrial> {
    const { mediaControl, outbound } = this.#deps;
    checkPull(pull, outbound);
    const { source: url, headers = {} } = pull;
    const source = { url, headers };
    if (Buffer.byteLength(JSON.stringify(source)) > MAX_SOURCE_BYTES)
      throw new BadRequest("pull.headers are too long for a trial: start the pull, and read status.pull of the stream");
    const { isAllowed, resetSeconds } = this.#limit.take(projectId);
    if (!isAllowed)
      throw new TooManyRequests(
        `a project may try ${MAX_PER_MINUTE} sources a minute: try again in ${resetSeconds} seconds`,
      );
    const { tracks, leftOut, problem } = await mediaControl.trySource(source);
    return { tracks: [...tracks], ...(leftOut !== null && { leftOut }), ...(problem !== null && { problem }) };
  }
}
