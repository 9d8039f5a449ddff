/** The gate for viewers. */

import type { StoredContent } from "./media-catalogue.ts";

/** The viewer who asks, as described to the customer's webhook. `url` has no query, and so no credentials. */
export interface ViewerDetails {
  readonly protocol: "hls" | "mp4" | "whep";
  readonly address: string;
  readonly url: string;
  readonly host: string;
  readonly userAgent: string;
  readonly referer: string;
  /** Null if the request has none. */
  readonly origin: string | null;
}

export interface PlaybackRequest {
  readonly playbackId: string;
  /** The distinct signed tokens in the request's header and query: none, one, or two that differ. */
  readonly tokens: readonly string[];
  /** The distinct access keys, likewise. */
  readonly accessKeys: readonly string[];
  readonly viewer: ViewerDetails;
}

/**
 * The basis of a viewer session. The media floor seals it into the session's token, so that any node can continue the session, even after a
 * restart. From time to time it calls `recheck` with it.
 */
export type ViewerPass =
  | {
      readonly kind: "jwt";
      readonly signingKeyId: string /** Milliseconds since the Unix epoch. */;
      readonly expiresAt: number;
    }
  | { readonly kind: "webhook"; readonly accessKey: string }
  | { readonly kind: "owner" /** Milliseconds since the Unix epoch. */; readonly expiresAt: number };

/** Prefix of an owner token. No customer's signed token can begin with it. */
export const OWNER_TOKEN_PREFIX = "owner.";

/** The node whose hub has a live stream, and where other nodes reach it: an IP address and a port. */
export interface LivePlace {
  readonly nodeId: string;
  readonly address: string;
}

export interface LiveContent {
  readonly kind: "live";
  readonly streamId: string;
  readonly projectId: string;
  /** Absent while nobody publishes, and where nodes do not reach each other. */
  readonly place?: LivePlace;
  /** It is pulled from its source only while somebody watches. */
  readonly onlyWhileWatched?: true;
}

export type PlaybackContent = LiveContent | StoredContent;

export type PlaybackDecision =
  | {
      readonly ok: true;
      readonly content: PlaybackContent;
      /** Null for public content, which needs no viewer session. */
      readonly pass: ViewerPass | null;
      /** How long the answer is valid, in milliseconds. Then the caller asks `recheck` again (or `open`, for public content). */
      readonly expiresInMs: number;
      /** The policy lists origins, so the answer holds for `viewer` only. Not even a public answer may be cached by playback id. */
      readonly perOrigin: boolean;
      /** The account has reached its limit of viewers: current viewers continue, and new ones are refused. */
      readonly isFull: boolean;
    }
  | {
      readonly ok: false;
      /**
       * `gone`: a deleted recording; only viewers who could have watched it are told. `unconfirmed`, only from a re-check: the customer's
       * webhook gives no answer, and its last approval is unknown or too old. Ask again.
       */
      readonly reason: "denied" | "gone" | "unconfirmed";
    };

export interface PlaybackGate {
  /** An access request. The answer is the same, `denied`, for unknown and suspended content, deleted streams and a wrong credential. */
  open(request: PlaybackRequest): Promise<PlaybackDecision>;
  /**
   * Whether a viewer admitted on this pass may continue. Reads what changed since (policy, signing key, suspension), and calls the customer's
   * webhook only after the refresh interval (lifecycles.md, viewer session).
   */
  recheck(playbackId: string, pass: ViewerPass, viewer: ViewerDetails): Promise<PlaybackDecision>;
  /** An admitted viewer asked for a stream with `onlyWhileWatched` that is not live. Returns at once; asking often costs nothing. */
  want(streamId: string): void;
}
