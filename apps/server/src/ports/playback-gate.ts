/** The gate for viewers. */

import type { MediaIndex } from "./media-index.ts";

/** The viewer who asks, as the customer's webhook is told. Without credentials: `url` has no query. */
export interface ViewerDetails {
  readonly protocol: "hls" | "mp4" | "whep";
  readonly address: string;
  readonly url: string;
  readonly host: string;
  readonly userAgent: string;
  readonly referer: string;
  /** Null where the request names none. */
  readonly origin: string | null;
}

export interface PlaybackRequest {
  readonly playbackId: string;
  /** The distinct signed tokens that came with the request, by header and by query: none, one, or two that differ. */
  readonly tokens: readonly string[];
  /** The distinct access keys, in the same way. */
  readonly accessKeys: readonly string[];
  readonly viewer: ViewerDetails;
}

/**
 * What a viewer session rests on. The media floor seals it into the session's token, so that any node can go on with the session, also
 * after a restart, and asks `recheck` with it from time to time.
 */
export type ViewerPass =
  | {
      readonly kind: "jwt";
      readonly signingKeyId: string /** Milliseconds since the Unix epoch. */;
      readonly expiresAt: number;
    }
  | { readonly kind: "webhook"; readonly accessKey: string }
  | { readonly kind: "owner" /** Milliseconds since the Unix epoch. */; readonly expiresAt: number };

/** How an owner token begins: no signed token of a customer can. */
export const OWNER_TOKEN_PREFIX = "owner.";

export type PlaybackContent =
  | { readonly kind: "live"; readonly streamId: string; readonly projectId: string }
  | StoredContent;

/** A finished piece of media in the object store. A recording has the id of its session. */
export interface StoredContent {
  readonly kind: "recording" | "asset";
  readonly id: string;
  readonly projectId: string;
}

export type PlaybackDecision =
  | {
      readonly ok: true;
      readonly content: PlaybackContent;
      /** Null for public content, which needs no viewer session. */
      readonly pass: ViewerPass | null;
      /** How long the answer stands, in milliseconds; then `recheck` (or, for public content, `open`) is asked again. */
      readonly standsMs: number;
      /** The policy lists origins, so the answer is about `viewer` alone: not even a public one may be kept by the playback id. */
      readonly perOrigin: boolean;
      /** The account has as many viewers as it may have: who watches goes on, nobody new begins. */
      readonly isFull: boolean;
    }
  | {
      readonly ok: false;
      /**
       * `gone`: a deleted recording, told to those who could have watched it. `unconfirmed`, of a re-check alone: the customer's webhook does
       * not say, and its last yes is unknown or too old. Ask again.
       */
      readonly reason: "denied" | "gone" | "unconfirmed";
    };

export interface PlaybackGate {
  /** An access request. One answer for unknown and suspended content, deleted streams and a wrong credential: `denied`. */
  open(request: PlaybackRequest): Promise<PlaybackDecision>;
  /**
   * Whether who was let in on this pass may go on. Reads what changed since (policy, signing key, suspension) and calls the customer's
   * webhook only when the refresh interval is over (lifecycles.md, viewer session).
   */
  recheck(playbackId: string, pass: ViewerPass, viewer: ViewerDetails): Promise<PlaybackDecision>;
  /** The playback id of a session's recording; null where there is none. */
  recordingOf(sessionId: string): Promise<string | null>;
  /** Where the bytes of stored content are; null while it is not ready. */
  mediaIndex(content: StoredContent): Promise<MediaIndex | null>;
  /** Stored content is so many bytes as one MP4. Returns at once. */
  noteMp4Size(content: StoredContent, bytes: number): void;
}
