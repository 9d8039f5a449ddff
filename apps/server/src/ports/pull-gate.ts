/** Streams that a media node gets from their sources. */

/** The right of this node, and of no other, to pull a stream. */
export interface PullLease {
  readonly streamId: string;
  /** Changes with the source, and whenever the pull is started anew. */
  readonly version: number;
  /** False while nobody watches a stream that is pulled only while somebody does: the lease is kept, and nothing is connected to. */
  readonly isWatched: boolean;
}

export interface PullSource {
  /** Secret: it may contain a user name and a password. */
  readonly url: string;
  /** Secret. Sent with requests over HTTP. */
  readonly headers: Readonly<Record<string, string>>;
  readonly streamKey: string;
}

/** `waiting`: a node has yet to begin, another publisher has the stream, or nobody watches. `ended`: the source has, and is not asked again. */
export type PullState = "waiting" | "connecting" | "pulling" | "retrying" | "ended";

/** `codec`: as in RFC 6381; `sampleRate`: Hz. */
export interface SourceTrack {
  readonly kind: "video" | "audio";
  readonly codec: string;
  readonly width?: number;
  readonly height?: number;
  readonly frameRate?: number;
  readonly sampleRate?: number;
  readonly channels?: number;
}

/**
 * What was found at a source. `leftOut`: tracks that a pull does not take; `problem`: what is wrong. Both are sentences without the address and without
 * anything that the source sent.
 */
export interface SourceTrial {
  readonly tracks: readonly SourceTrack[];
  readonly leftOut: string | null;
  readonly problem: string | null;
}

export interface PullGate {
  /** The pulls of this node: those it has, and up to `room` further ones that no running node has. */
  claim(room: number): Promise<readonly PullLease[]>;
  /** What to connect to now; `busy` while another publisher is live, null if there is nothing to pull any more. */
  source(lease: PullLease): Promise<PullSource | "busy" | null>;
  /** `reason` is a sentence without the address: why it is not pulled, or which tracks of the source are left out. Does nothing without the lease. */
  report(lease: PullLease, state: PullState, reason: string | null): Promise<void>;
}
