/**
 * The waist: everything that the media floor and the domain floor say to each other. Four small interfaces, all of their values
 * structured-cloneable, so that the two floors may sit in one process or in many. Only `roles/` knows both sides.
 */

/** A position on a session's timeline from which a successor may go on without ever using a name twice. */
export interface TimelinePosition {
  /** First media sequence number that was never used. */
  readonly nextMsn: number;
  readonly discontinuitySequence: number;
  /** Latest end of all tracks, in 90 kHz ticks. */
  readonly endTicks: number;
}

// ── Who may publish ────────────────────────────────────────────────────────────────────────────────────────────────

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
  readonly record: boolean;
  /** The ladder as the session began with it; empty for the source alone. */
  readonly profiles: readonly LadderProfile[];
  /** True for the documented default ladder, of which rungs not smaller than the source are left out. */
  readonly isDefaultLadder: boolean;
}

export interface PublishGate {
  /** Asked once per publish attempt, before a byte of media is kept. Takes the lease: an older publisher of the stream is fenced off. */
  authorize(request: PublishRequest): Promise<PublishDecision>;
  /** Asked when the first keyframe (or first audio packet) is in. Null when a newer grant exists or the stream may no longer publish. */
  begin(grant: PublishGrant, at: number): Promise<SessionStart | null>;
}

// ── Who may watch ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Who asks to watch, as the customer's webhook is told (public-interface 6). Without credentials: `url` has no query. */
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
  | { readonly kind: "webhook"; readonly accessKey: string };

export type PlaybackContent =
  | { readonly kind: "live"; readonly streamId: string; readonly projectId: string }
  | { readonly kind: "recording"; readonly sessionId: string; readonly projectId: string };

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
      /** `unconfirmed`, of a re-check alone: the customer's webhook does not say, and its last yes is unknown or too old. Ask again. */
      readonly reason: "denied" | "unconfirmed";
    };

/** One rendition of a recording: init segments, spans and the segments inside them, in order. */
export interface RecordingRendition {
  readonly rendition: string;
  readonly track: RecordingTrack;
  readonly segments: readonly RecordingSegment[];
  /** Size of each span in bytes, by its name. */
  readonly spanBytes: ReadonlyMap<string, number>;
}

export interface RecordingTrack {
  readonly kind: "video" | "audio";
  readonly codec: "avc" | "hevc" | "av1" | "aac";
  /** The decoder configuration (body of `avcC`, `hvcC`, `av1C`, or the AudioSpecificConfig), base64. */
  readonly config: string;
  readonly timescale: number;
  readonly codecString: string;
  readonly width?: number;
  readonly height?: number;
  readonly sampleRate?: number;
  readonly channels?: number;
}

export interface RecordingSegment {
  readonly msn: number;
  readonly epoch: number;
  /** Start on the timeline and duration, in ticks of the rendition's timescale. */
  readonly startTicks: number;
  readonly durationTicks: number;
  readonly programDateTimeMs: number;
  readonly discontinuity: boolean;
  /** True when the rendition has no bytes for this MSN. */
  readonly gap: boolean;
  /** File name of the init segment: `init-{hash8}.mp4`. Empty for a gap. */
  readonly init: string;
  /** The span that holds the bytes, `{epoch}-{firstMsn}.m4s`, and where in it. Empty for a gap. */
  readonly span: string;
  readonly offset: number;
  readonly length: number;
}

export interface RecordingIndex {
  readonly sessionId: string;
  readonly projectId: string;
  readonly renditions: readonly RecordingRendition[];
}

export interface PlaybackGate {
  /** An access request. One answer for unknown, deleted and suspended content and for a wrong credential: `denied`. */
  open(request: PlaybackRequest): Promise<PlaybackDecision>;
  /**
   * Whether who was let in on this pass may go on. Reads what changed since (policy, signing key, suspension) and calls the customer's
   * webhook only when the refresh interval is over (lifecycles.md, viewer session).
   */
  recheck(playbackId: string, pass: ViewerPass, viewer: ViewerDetails): Promise<PlaybackDecision>;
  /** The index of a recording that is ready; null otherwise. */
  recording(sessionId: string): Promise<RecordingIndex | null>;
}

// ── What the domain floor asks of the media floor ──────────────────────────────────────────────────────────────────

export type StopReason = "terminated" | "suspended" | "deleted" | "key-rotated";

export interface MediaControl {
  /**
   * Close the stream's publisher wherever it is. `terminated` leaves viewers to finish the playlist, `suspended` and `deleted` refuse them
   * at once; after `key-rotated` the session waits for the broadcaster to come back with the new key, as after a lost source.
   */
  stop(streamId: string, why: StopReason): Promise<void>;
  /** Keys or policies changed: every kept answer about this playback id, or about all of them, is asked for again at once. */
  accessChanged(playbackId: string | "all"): Promise<void>;
  /** Send a generated picture and tone to the stream by its own ingest, for `seconds`. */
  startTestBroadcast(streamKey: string, seconds: number): Promise<void>;
}

// ── What the media floor tells ─────────────────────────────────────────────────────────────────────────────────────

interface Fact {
  readonly streamId: string;
  readonly epoch: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The publisher left: on purpose, or not. `lastPacketAt` is when its last packet came. */
export interface SourceEnded extends Fact {
  readonly type: "source-ended";
  readonly why: "clean-stop" | "source-lost";
  readonly reason: string;
  readonly lastPacketAt: number;
}

/** Packets flow again on a connection that had been silent. */
export interface SourceBack extends Fact {
  readonly type: "source-back";
}

/** A segment is complete in every rendition. Moves the session's position, counters and `lastSeen`. */
export interface SegmentClosed extends Fact {
  readonly type: "segment-closed";
  readonly sessionId: string;
  readonly position: TimelinePosition;
  /** Seconds and bytes of the source in this segment, all tracks. */
  readonly durationSeconds: number;
  readonly bytes: number;
  /** One row per rendition when the session records; empty otherwise. */
  readonly recorded: readonly RecordedSegment[];
}

export interface RecordedSegment extends RecordingSegment {
  readonly rendition: string;
  readonly track: RecordingTrack;
}

/** A span is in the object store and durable: `{v1/{project}/rec/{session}/{rendition}/{span}}`. Rows that point behind its `bytes` are lost. */
export interface SpanSealed extends Fact {
  readonly type: "span-sealed";
  readonly sessionId: string;
  readonly rendition: string;
  readonly span: string;
  readonly bytes: number;
}

/** Media is missing from the session's recording from here on; it goes on when it can. */
export interface RecordingFailed extends Fact {
  readonly type: "recording-failed";
  readonly sessionId: string;
  readonly reason: string;
}

export interface TranscodingReport {
  readonly state: "off" | "starting" | "running" | "source-only";
  /** Why it is source only, as a sentence. */
  readonly reason?: string;
  /** Why it is source only: the machine is full, the source cannot be transcoded, or the transcoder failed again and again. */
  readonly cause?: "machine-full" | "unsupported-source" | "transcoder-failed";
  readonly renditions: readonly {
    /** As the profile is called. */
    readonly name: string;
    readonly width: number;
    readonly height: number;
    readonly state: "running" | "gap" | "off";
    /** How far the newest encoded picture is behind the newest that was sent. */
    readonly lagMs: number;
  }[];
}

/** `none`: there is no such track; `stopped`: there is one, and nothing came of it for 2 seconds. */
export type TrackFlow = "none" | "flowing" | "stopped";

/** What the source sends, measured once a second over the last ten. */
export interface SourceMeasure {
  /** How many whole seconds of this publisher are behind the other numbers: 10 at most. */
  readonly measuredSeconds: number;
  /** Frames per second of media time; null while unknown, and without video. */
  readonly frameRate: number | null;
  /** Media time between the last two keyframes, or since the last one where that is longer; null without video. */
  readonly keyframeIntervalMs: number | null;
  readonly video: TrackFlow;
  readonly audio: TrackFlow;
  /** How many of the last ten seconds brought less than half a second of media. */
  readonly starvedSeconds: number;
  /** Jumps of the source's clock in the last minute. */
  readonly clockJumps: number;
}

/** Bytes that recordings may still take. */
export interface RecordingRoom {
  /** On this node, where a recording waits until the object store has it. */
  readonly spoolFreeBytes: number;
  /** In the object store; null where it has no limit of its own. */
  readonly storeFreeBytes: number | null;
}

/** Sent every 10 seconds while a publisher is live, at its first keyframe, and within a second of a change for the better or the worse. */
export interface SourceMetrics extends Fact {
  readonly type: "source-metrics";
  readonly sessionId: string;
  readonly source: SourceMeasure;
  /** Null where the session is not recorded. */
  readonly recordingRoom: RecordingRoom | null;
  readonly mediaTimeMs: number;
  /** Bytes per second received since the last report. */
  readonly ingestRate: number;
  /** Bytes per second sent to viewers since the last report. */
  readonly outgoingRate: number;
  /** How the ladder is doing; null where none was asked for. */
  readonly transcoding: TranscodingReport | null;
}

/** What became of one source segment in the rungs of the ladder; interface.md 6.1 `transcode` has the same words. */
export interface SegmentTranscoded extends Fact {
  readonly type: "segment-transcoded";
  readonly sessionId: string;
  readonly segment: {
    readonly name: string;
    readonly seqNo: number;
    /** Seconds. */
    readonly duration: number;
    readonly byteSize: number;
  };
  /** When the segment's last source packet went to the transcoder. */
  readonly startTime: number;
  /** From then until its last rendition packet came back. */
  readonly latencyMs: number;
  /** True when every rung has the segment. */
  readonly success: boolean;
  /** Why it has not: too late, no room for the ladder or a source that cannot be transcoded, or a transcoder that died. Null on success. */
  readonly missed: "late" | "source-only" | "died" | null;
  readonly attempts: readonly {
    readonly orchestrator: { readonly address: string; readonly transcodeUri: string };
    readonly latencyMs: number;
    readonly error: string | null;
  }[];
  /** Bytes of all rungs together. */
  readonly renditionBytes: number;
}

export type MediaFact =
  | SourceEnded
  | SourceBack
  | SegmentClosed
  | SpanSealed
  | RecordingFailed
  | SourceMetrics
  | SegmentTranscoded;

/** Who watches one playback id through this node. Told every 10 s while somebody does, and once more when nobody does any longer. */
export interface ViewerCount {
  readonly playbackId: string;
  /** Viewers right now. */
  readonly now: number;
  /** Viewers that began since the last count. */
  readonly begun: number;
  /** Ids of those that began, the first thousand of them. */
  readonly newViewers: readonly string[];
  /** Watched since the last count by all together, in milliseconds. */
  readonly watchedMs: number;
}

export interface EventSink {
  /** Takes the counts of this node and returns at once; under pressure counts are lost before facts are. */
  countViewers(counts: readonly ViewerCount[]): void;
  /** Takes a fact and returns at once. Order per stream is kept; lifecycle facts are never dropped, metrics are when the queue is full. */
  report(fact: MediaFact): void;
  /** Resolves with whether everything reported so far is durable; false when the database does not take it for now. */
  settle(): Promise<boolean>;
  /** Facts other than telemetry that there was no room for, since the start. A teller that kept them may tell them again. */
  readonly lost: number;
}
