/** The gate for publishers. */

import type { LivePlace } from "./playback-gate.ts";

/** A position on a session's timeline from which a successor can continue without using a name twice. */
export interface TimelinePosition {
  /** The first media sequence number that was never used. */
  readonly nextMsn: number;
  readonly discontinuitySequence: number;
  /** Latest end of all tracks, in 90 kHz ticks. */
  readonly endTicks: number;
  /** EXT-X-TARGETDURATION of the session's playlists, in seconds: it never changes. */
  readonly targetDuration: number;
  /** The target duration that the keyframes so far would require. */
  readonly neededTargetDuration: number;
  /** The sound that has come so far; null if none has. */
  readonly sound: SessionSound | null;
}

/** The configuration of a session's first audio track: silence with the same one can take its place. */
export interface SessionSound {
  readonly codec: "aac" | "opus";
  /** AudioSpecificConfig, or the body of `dOps`, in hexadecimal. */
  readonly config: string;
}

/** The ways in. */
export type PublishProtocol = "rtmp" | "srt" | "whip" | "pull";

export interface PublishRequest {
  readonly protocol: PublishProtocol;
  readonly streamKey: string;
  readonly remoteAddress: string;
}

export type PublishRefusal = "unknown-key" | "suspended" | "too-many" | "draining" | "unavailable";

/** The right to publish one stream. `epoch` fences it: of the grants whose media has begun, the one with the highest epoch wins everywhere. */
export interface PublishGrant {
  readonly streamId: string;
  readonly projectId: string;
  readonly playbackId: string;
  readonly epoch: number;
}

export type PublishDecision =
  | { readonly ok: true; readonly grant: PublishGrant }
  | { readonly ok: false; readonly reason: PublishRefusal };

/** One rung that a stream requests in addition to its source, as described by the API's `profiles`. */
export interface LadderProfile {
  readonly name: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Bits per second. */
  readonly bitrate: number;
  /** Frames per second, divided by `fpsDen`; 0 keeps the source's frame rate. */
  readonly fps: number;
  readonly fpsDen?: number;
  /** Constant rate factor, 0 to 44; 0 for none. */
  readonly quality?: number;
  /** Seconds between keyframes as a number in text, or `intra`. */
  readonly gop?: string;
  readonly profile?: "H264Baseline" | "H264Main" | "H264High" | "H264ConstrainedHigh";
  readonly encoder?: "H.264";
}

/** The session that a publisher's first keyframe or audio packet started or continued. */
export interface SessionStart {
  readonly sessionId: string;
  /** Of the session, in ms since the epoch. */
  readonly startedAtMs: number;
  /** Null for a new session. */
  readonly resume: TimelinePosition | null;
  /** The epoch of the session's last owner, on any node: who has the session of that epoch goes on exactly where it is. Null for a new session. */
  readonly previousEpoch: number | null;
  /** Where that owner is reached, to be asked for its exact position; null if it was on this node, is gone, or cannot be reached by other nodes. */
  readonly previousPlace: LivePlace | null;
  /** The target duration, in seconds, that the stream's last session would have required; null without an earlier session. */
  readonly lastTargetDuration: number | null;
  /** The sound of the session before this one; null if there was none. */
  readonly lastSound: SessionSound | null;
  readonly record: boolean;
  /** What live viewers see in the reconnect window. */
  readonly slate: "off" | "last-picture" | "image";
  /** A PNG or JPEG; null where the stream has none, or shows none. */
  readonly slateImage: Uint8Array | null;
  /** How far viewers can go back while it is live, in seconds; null where they cannot. */
  readonly dvrSeconds: number | null;
  /** Names of the profiles whose rungs are kept beside the source, in the recording or for viewers who go back. */
  readonly recordedProfiles: readonly string[];
  /** The ladder of the session, fixed at its start; empty for source only. */
  readonly profiles: readonly LadderProfile[];
  /** True for the documented default ladder, which omits rungs that are not smaller than the source. */
  readonly isDefaultLadder: boolean;
  /** The multistream targets of the session. */
  readonly targets: readonly RestreamTarget[];
}

/** One rendition of a stream, sent to one multistream target. */
export interface RestreamTarget {
  readonly id: string;
  readonly name: string;
  /** The name of a profile, or `source`. */
  readonly profile: string;
  readonly videoOnly: boolean;
  /** Send the last picture and silence while the source is away. */
  readonly slate: boolean;
  /** Secret: it contains the platform's stream key. */
  readonly url: string;
  /** The reason why this session has given up on the target, as a sentence; null if it has not. */
  readonly givenUp: string | null;
}

/** A refused attempt to publish, or a broadcast that was ended because of its data. */
export interface RefusedAttempt {
  readonly protocol: PublishRequest["protocol"];
  readonly remoteAddress: string;
  /** Null for a stream key that is unknown or may not publish. */
  readonly streamId: string | null;
  /** The message sent to the encoder. */
  readonly sentence: string;
}

export interface PublishGate {
  /** Asked once for each publish attempt, before a byte of media is kept. Changes nothing for the stream's present publisher. */
  authorize(request: PublishRequest): Promise<PublishDecision>;
  /** Asked after the first keyframe (or first audio packet): makes the publisher the stream's owner. Null if a newer one is, or the stream may no longer publish. */
  begin(grant: PublishGrant, at: number): Promise<SessionStart | null>;
  /** Whether this node has its lease. Without, it cannot know whether another node has its streams. */
  hasLease(): boolean;
  /** Reports each refusal. Returns at once. */
  refused(attempt: RefusedAttempt): void;
  /** The current multistream targets of a stream. Asked whenever they may have changed while the stream is live. */
  targets(streamId: string): Promise<readonly RestreamTarget[]>;
}
