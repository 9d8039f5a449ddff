import type { Viewer, ViewerCounts } from "./viewer-counts.ts";

const MAX_AGENT_LENGTH = 200;

/** Where a request for public content comes from; two players behind one address are told apart by the `tkn` that they may bring. */
export interface PublicCaller {
  readonly playbackId: string;
  readonly address: string;
  readonly userAgent: string;
  readonly tkn: string | null;
}

/**
 * Who watches public content, which needs no session. A playlist makes its caller known; a segment, whose address is the same for all,
 * only shows that a known one is still there.
 */
export class PublicViewers {
  readonly #counts: ViewerCounts;
  readonly #known = new Map<string, Viewer>();

  constructor(counts: ViewerCounts) {
    this.#counts = counts;
  }

  /** A playlist or file was asked for that the caller begins or goes on with. False for somebody new where nobody new may begin. */
  begin(caller: PublicCaller, isFull: boolean): boolean {
    const place = placeOf(caller);
    const key = caller.tkn === null ? place : `${caller.playbackId} ${caller.tkn}`;
    let viewer = this.#known.get(key);
    if (!viewer) {
      if (isFull) return false;
      viewer = this.#counts.viewer(caller.playbackId, { onLeft: () => this.#forget(key, place) });
      this.#known.set(key, viewer);
    }
    this.#counts.see(viewer);
    if (viewer.tally === null) this.#forget(key, place);
    else if (key !== place) this.#known.set(place, viewer);
    return true;
  }

  /** A segment was asked for. */
  goOn(caller: PublicCaller): void {
    const viewer = this.#known.get(placeOf(caller));
    if (viewer) this.#counts.see(viewer);
  }

  #forget(key: string, place: string): void {
    const viewer = this.#known.get(key);
    this.#known.delete(key);
    if (this.#known.get(place) === viewer) this.#known.delete(place);
  }
}

const placeOf = ({ playbackId, address, userAgent }: PublicCaller): string =>
  `${playbackId} ${address} ${userAgent.slice(0, MAX_AGENT_LENGTH)}`;
