import type { Socket } from "node:net";
import type { Audiences } from "../../../platform/audience/index.ts";
import type { TrustedProxies } from "../../../platform/http/trusted-proxies.ts";
import { type AccessRequest, tknOf } from "./access-request.ts";
import type { Admitted } from "./admission.ts";
import { PublicViewers } from "./public-viewers.ts";
import type { Viewer, ViewerCounts } from "./viewer-counts.ts";

/** Finds the viewer of a request: that of its viewer session, or for public content the one at its origin. */
export class ViewerArrivals {
  readonly #proxies: TrustedProxies;
  readonly #counts: ViewerCounts;
  readonly #publicViewers: PublicViewers;
  /**
   * The last viewer counted on each connection. Without a proxy a connection belongs to one viewer, and looking it up costs a tenth of parsing the
   * request's headers.
   */
  readonly #onConnection = new WeakMap<Socket, { playbackId: string; tkn: string | null; viewer: Viewer }>();

  constructor(proxies: TrustedProxies, counts: ViewerCounts, audiences: Audiences) {
    this.#proxies = proxies;
    this.#counts = counts;
    this.#publicViewers = new PublicViewers(counts, audiences);
  }

  /** Counts the viewer, unless it is the owner. False for a new viewer when the stream is full. */
  count({ req, url, playbackId, step }: AccessRequest, { session, isFull }: Admitted): boolean {
    if (req.method === "HEAD") return true;
    if (session) {
      if (session.pass.kind !== "owner") this.#counts.see(session.viewer);
      return true;
    }
    const tkn = tknOf(url);
    const last = this.#onConnection.get(req.socket);
    if (last?.viewer.tally && last.playbackId === playbackId && (last.tkn === tkn || step === "media")) {
      this.#counts.see(last.viewer);
      return true;
    }
    const userAgent = req.headers["user-agent"] ?? "";
    const caller = { playbackId, address: this.#proxies.addressOf(req), userAgent, tkn };
    if (step === "media") {
      this.#publicViewers.goOn(caller);
      return true;
    }
    const viewer = this.#publicViewers.begin(caller, isFull);
    if (viewer && this.#proxies.isEmpty) this.#onConnection.set(req.socket, { playbackId, tkn, viewer });
    return viewer !== null;
  }
}
