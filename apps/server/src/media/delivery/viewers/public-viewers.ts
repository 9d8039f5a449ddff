import type { Audiences } from "../../../platform/audience/index.ts";
import { clientOf } from "../../../platform/limits/client.ts";
import type { Viewer, ViewerCounts } from "./viewer-counts.ts";

const MAX_AGENT_LENGTH = 200;

/** Where a request for public content comes from; two players behind one address are told apart by the `tkn` that they may bring. */
export interface PublicCaller {
  readonly playbackId: string;
  readonly address: string;
  readonly userAgent: string;
  readonly tkn: string | null;
}

interface Known {
  readonly viewer: Viewer;
  /** Where it was last. */
  place: string;
}

/**
 * Who watches public content, which needs no session. A playlist makes its caller known; a segment, whose address is the same for all,
 * only shows that a known one is still there.
 */
export class PublicViewers {
  readonly #counts: ViewerCounts;
  /** By `tkn`, or by place where there is none. */
  readonly #known = new Map<string, Known>();
  /** One place for each of them, however many they come from. */
  readonly #atPlace = new Map<string, Viewer>();

  readonly #audiences: Audiences;

  constructor(counts: ViewerCounts, audiences: Audiences) {
    this.#counts = counts;
    this.#audiences = audiences;
  }

  /** A playlist or file was asked for that the caller begins or goes on with. Null for somebody new where nobody new may begin. */
  begin(caller: PublicCaller, isFull: boolean): Viewer | null {
    const place = placeOf(caller);
    const key = caller.tkn === null ? place : `${caller.playbackId} ${caller.tkn}`;
    let known = this.#known.get(key);
    if (!known) {
      if (isFull) return null;
      const onLeft = () => this.#forget(key);
      const audience = this.#audiences.of(caller.userAgent, caller.address);
      const viewer = this.#counts.viewer(caller.playbackId, clientOf(caller.address), { audience, onLeft });
      known = { viewer, place };
      this.#known.set(key, known);
    }
    this.#counts.see(known.viewer);
    if (known.place !== place) this.#vacate(known);
    known.place = place;
    this.#atPlace.set(place, known.viewer);
    if (known.viewer.tally === null) this.#forget(key);
    return known.viewer;
  }

  /** A segment was asked for. */
  goOn(caller: PublicCaller): void {
    const viewer = this.#atPlace.get(placeOf(caller));
    if (viewer) this.#counts.see(viewer);
  }

  #forget(key: string): void {
    const known = this.#known.get(key);
    this.#known.delete(key);
    if (known) this.#vacate(known);
  }

  #vacate({ viewer, place }: Known): void {
    if (this.#atPlace.get(place) === viewer) this.#atPlace.delete(place);
  }
}

const placeOf = ({ playbackId, address, userAgent }: PublicCaller): string =>
  `${playbackId} ${address} ${userAgent.slice(0, MAX_AGENT_LENGTH)}`;
