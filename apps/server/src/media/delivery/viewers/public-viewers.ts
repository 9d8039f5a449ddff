import type { Audiences } from "../../../platform/audience/index.ts";
import { clientOf } from "../../../platform/limits/client.ts";
import type { Viewer, ViewerCounts } from "./viewer-counts.ts";

const MAX_AGENT_LENGTH = 200;

/** The origin of a request for public content. Players behind the same address are distinguished by their optional `tkn`. */
export interface PublicCaller {
  readonly playbackId: string;
  readonly address: string;
  readonly userAgent: string;
  readonly tkn: string | null;
}

interface Known {
  readonly viewer: Viewer;
  /** Its latest origin. */
  origin: string;
}

/**
 * The viewers of public content, who have no session. A playlist request identifies its viewer; a segment, whose URL is the same for all, only shows
 * that a known viewer is still present.
 */
export class PublicViewers {
  readonly #counts: ViewerCounts;
  /** By `tkn`, or by origin without one. */
  readonly #known = new Map<string, Known>();
  /** The viewer last seen at each origin; one origin per viewer. */
  readonly #atOrigin = new Map<string, Viewer>();

  readonly #audiences: Audiences;

  constructor(counts: ViewerCounts, audiences: Audiences) {
    this.#counts = counts;
    this.#audiences = audiences;
  }

  /** Handles a request for a playlist or file. Null for a new viewer when the stream is full. */
  begin(caller: PublicCaller, isFull: boolean): Viewer | null {
    const origin = originOf(caller);
    const key = caller.tkn === null ? origin : `${caller.playbackId} ${caller.tkn}`;
    let known = this.#known.get(key);
    if (!known) {
      if (isFull) return null;
      const onLeft = () => this.#forget(key);
      const audience = this.#audiences.of(caller.userAgent, caller.address);
      const viewer = this.#counts.viewer(caller.playbackId, clientOf(caller.address), { audience, onLeft });
      known = { viewer, origin };
      this.#known.set(key, known);
    }
    this.#counts.see(known.viewer);
    if (known.origin !== origin) this.#removeOrigin(known);
    known.origin = origin;
    this.#atOrigin.set(origin, known.viewer);
    if (known.viewer.tally === null) this.#forget(key);
    return known.viewer;
  }

  /** Handles a request for a segment. */
  goOn(caller: PublicCaller): void {
    const viewer = this.#atOrigin.get(originOf(caller));
    if (viewer) this.#counts.see(viewer);
  }

  #forget(key: string): void {
    const known = this.#known.get(key);
    this.#known.delete(key);
    if (known) this.#removeOrigin(known);
  }

  #removeOrigin({ viewer, origin }: Known): void {
    if (this.#atOrigin.get(origin) === viewer) this.#atOrigin.delete(origin);
  }
}

const originOf = ({ playbackId, address, userAgent }: PublicCaller): string =>
  `${playbackId} ${address} ${userAgent.slice(0, MAX_AGENT_LENGTH)}`;
