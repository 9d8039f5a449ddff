/** The gate for publishers. */

/** A position on a session's timeline from which a successor may go on without ever using a name twice. */
export interface TimelinePosition {
  /** First media sequence number that was never used. */
  readonly nextMsn: number;
  readonly discontinuitySequence: number;
  /** Latest end of all tracks, in 90 kHz ticks. */
  readonly endTicks: number;
  /** EXT-X-TARGETDURATION of the session's playlists, in seconds: it never changes. */
  readonly targetDuration: number;
  /** The value that the keyframes so far would need. */
  readonly neededTargetDuration: number;
}

export interface PublishRequest {
  readonly protocol: "rtmp" | "srt" | "whip" | "pull";
  readonly streamKey: string;
  readonly remoteAddress: string;
}

export type PublishRefusal = "unknown-key" | "suspended" | "too-many" | "draining" | "unavailable";

/** The right to publish one stream. `epoch` fences it: a later grant for the same stream has a higher one, and wins everywhere. */
export interface PublishGrant {
  readonly streamId: string;
  readonly projectId: string;
  readonly playbackId: string;
  readonly epoch: number;
}

export type PublishDecision =
  | { readonly ok: true; readonly grant: PublishGrant }
  | { readonly ok: false; readonly reason: PublishRefusal };

/** One rung that a stream asks for beside its source, as the API's `profiles` describes it. */
export interface LadderProfile {
  readonly name: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  /** Bits per second. */
  readonly bitrate: number;
  /** Frames per second, divided by `fpsDen`; 0 for the source's own. */
  readonly fps: number;
  readonly fpsDen?: number;
  /** Constant rate factor, 0 to 44; 0 for none. */
  readonly quality?: number;
  /** Seconds between keyframes as a number in text, or `intra`. */
  readonly gop?: string;
  readonly profile?: "H264Baseline" | "H264Main" | "H264High" | "H264ConstrainedHigh";
  readonly encoder?: "H.264";
}

/** The session that a publisher's first keyframe or audio packet began, or went on with. */
export interface SessionStart {
  readonly sessionId: string;
  /** Null for a new session. */
  readonly resume: TimelinePosition | null;
  /** The target duration, in seconds, that the stream's last session would have needed; null where it had none. */
  readonly lastTargetDuration: number | null;
  readonly record: boolean;
  /** The recording has the rungs of the ladder beside the source. */
  readonly recordsRungs: boolean;
  /** The ladder as the session began with it; empty for the source alone. */
  readonly profiles: readonly LadderProfile[];
  /** True for the documented default ladder, of which rungs not smaller than the source are left out. */
  readonly isDefaultLadder: boolean;
  /** Where the session is forwarded to. */
  readonly targets: readonly RestreamTarget[];
}

/** One rendition of a stream, sent to one multistream target. */
export interface RestreamTarget {
  readonly id: string;
  readonly name: string;
  /** The name of a profile, or `source`. */
  readonly profile: string;
  readonly videoOnly: boolean;
  /** Secret: the platform's stream key stands in it. */
  readonly url: string;
  /** Why this session has given it up already, as a sentence; null where it has not. */
  readonly givenUp: string | null;
}

/** An attempt to publish that was refused, or a broadcast that was ended because of what was sent. */
export interface RefusedAttempt {
  readonly protocol: PublishRequest["protocol"];
  readonly remoteAddress: string;
  /** Null for a stream key that is not known, or may not publish. */
  readonly streamId: string | null;
  /** What the encoder was told. */
  readonly sentence: string;
}

export interface PublishGate {
  /** Asked once per publish attempt, before a byte of media is kept. Takes the lease: an older publisher of the stream is fenced off. */
  authorize(request: PublishRequest): Promise<PublishDecision>;
  /** Asked when the first keyframe (or first audio packet) is in. Null when a newer grant exists or the stream may no longer publish. */
  begin(grant: PublishGrant, at: number): Promise<SessionStart | null>;
  /** Is told of each refusal. Returns at once. */
  refused(attempt: RefusedAttempt): void;
  /** Where a stream is forwarded to now: asked whenever that may have changed while it is live. */
  targets(streamId: string): Promise<readonly RestreamTarget[]>;
}
