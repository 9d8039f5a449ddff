import { hash } from "node:crypto";
import type { Audiences } from "../../../platform/audience/index.ts";
import { type AccessRequest, tknOf } from "./access-request.ts";
import type { Viewer, ViewerCounts } from "./viewer-counts.ts";

const MAX_AGENT_LENGTH = 200;

interface Known {
  readonly viewer: Viewer;
  /** Its latest origin. */
  origin: string;
}

/**
 * The viewers of public content, who have no session. A playlist request identifies its viewer; a segment, whose URL is the same for all, only shows
 * that a known viewer is still present. Players behind the same address are distinguished by their optional `tkn`.
 */
export class PublicViewers {
  readonly #counts: ViewerCounts;
  readonly #audiences: Audiences;
  /** By `tkn`, or by origin without one. */
  readonly #known = new Map<string, Known>();
  /** The viewer last seen at each origin; one origin per viewer. */
  readonly #atOrigin = new Map<string, Viewer>();
  /** The last viewer counted on each connection: looking it up costs a tenth of parsing the request's headers. */
  readonly #onConnection = new WeakMap<object, { readonly tkn: string | null; readonly viewer: Viewer }>();

  constructor(counts: ViewerCounts, audiences: Audiences) {
    this.#counts = counts;
    this.#audiences = audiences;
  }

  /** Counts the viewer of a request. False for a new viewer when the stream is full. */
  count(request: AccessRequest, isFull: boolean): boolean {
    const { connection, address } = request;
    const isMedia = request.step === "media";
    const tkn = tknOf(request.url);
    const last = connection && this.#onConnection.get(connection);
    if (last?.viewer.tally && last.viewer.playbackId === address.playbackId && (isMedia || last.tkn === tkn)) {
      this.#counts.see(last.viewer);
      return true;
    }
    const origin = originOf(request);
    if (isMedia) {
      const viewer = this.#atOrigin.get(origin);
      if (viewer) this.#counts.see(viewer);
      return true;
    }
    const viewer = this.#begin(request, tkn, origin, isFull);
    if (viewer && connection) this.#onConnection.set(connection, { tkn, viewer });
    return viewer !== null;
  }

  /** Null for a new viewer when the stream is full. */
  #begin(request: AccessRequest, tkn: string | null, origin: string, isFull: boolean): Viewer | null {
    const { playbackId } = request.address;
    const key = tkn === null ? origin : `${playbackId} ${tkn}`;
    let known = this.#known.get(key);
    if (!known) {
      if (isFull) return null;
      const audience = this.#audiences.of(request.userAgent, request.remoteAddress);
      const onLeft = () => this.#forget(key);
      const viewer = this.#counts.viewer(playbackId, request.client, { key: hash("sha256", key), audience, onLeft });
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

  #forget(key: string): void {
    const known = this.#known.get(key);
    this.#known.delete(key);
    if (known) this.#removeOrigin(known);
  }

  #removeOrigin({ viewer, origin }: Known): void {
    if (this.#atOrigin.get(origin) === viewer) this.#atOrigin.delete(origin);
  }
}

const originOf = ({ address, remoteAddress, userAgent }: AccessRequest): string =>
  `${address.playbackId} ${remoteAddress} ${userAgent.slice(0, MAX_AGENT_LENGTH)}`;
