import type { IncomingMessage } from "node:http";
import type { Offer } from "@weir/formats/sdp";
import type { NodePlace } from "../../platform/cluster/index.ts";

export interface WebrtcRequest {
  readonly req: IncomingMessage;
  readonly url: string;
  /** A playback id or a stream key. */
  readonly name: string;
}

/** An offer and its sender. */
export interface OfferRequest extends WebrtcRequest {
  readonly sdp: string;
  readonly offer: Offer;
  /** By another node, which forwards the offer; null for a client's own. */
  readonly admitted: string | null;
}

/** Another node has the stream, and answers the offer of a viewer whom this one admitted. */
export interface OfferElsewhere {
  readonly place: NodePlace;
  readonly viewer: {
    /** For the header of the forwarded offer. */
    readonly admitted: string;
    counted(): void;
  };
}

export interface OfferRefusal {
  readonly status: 400 | 401 | 403 | 404 | 406 | 409 | 429 | 503;
  /** For the person who sent the offer. */
  readonly sentence: string;
}

/** A connection being established. */
export interface OfferAnswer {
  /** With candidates. */
  readonly sdp: string;
  /** Ends the connection. `isWanted`: the client asked for it. */
  close(isWanted: boolean): void;
  /** Resolves with the reason when the connection has ended. */
  readonly ended: Promise<string>;
  /** Why the server ended it, for the person who sent the offer; null if it did not. */
  refusal?(): OfferRefusal | null;
  /** For a viewer: where the live stream is, in milliseconds of its media time. */
  readonly playheadMs?: number;
}

/** Handles offers to watch, or to publish. */
export interface OfferTaker {
  offer(request: OfferRequest): Promise<OfferAnswer | OfferRefusal | OfferElsewhere>;
}

/** Handles what viewers ask. */
export interface ViewerTaker extends OfferTaker {
  /** Null if an offer of this viewer would be answered now. */
  refusalOf(request: WebrtcRequest): Promise<OfferRefusal | null>;
}
