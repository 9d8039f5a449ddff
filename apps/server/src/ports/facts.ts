/** The facts that the media floor tells. */

import type { StoredSegment, StoredTrack } from "./media-index.ts";
import type { TimelinePosition } from "./publish-gate.ts";

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

export interface RecordedSegment extends StoredSegment {
  readonly rendition: string;
  readonly track: StoredTrack;
}

/** A segment is recorded in the rungs of the ladder too. Comes some seconds behind the segment's own fact, and counts for nothing else. */
export interface RungsRecorded extends Fact {
  readonly type: "rungs-recorded";
  readonly sessionId: string;
  readonly bytes: number;
  readonly recorded: readonly RecordedSegment[];
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

/** Parts of the session's recording lie in this node's spool, because the object store has not taken them yet. Told every minute. */
export interface RecordingSpooled extends Fact {
  readonly type: "recording-spooled";
  readonly sessionId: string;
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

/** Measures of the source, taken once a second over the last ten. */
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
  /** How the multistream targets are doing. */
  readonly targets: readonly TargetReport[];
}

/** A target of a stream, and the rendition that it gets. */
export interface ReportedTarget {
  readonly id: string;
  readonly name: string;
  readonly profile: string;
}

export interface TargetReport {
  readonly target: ReportedTarget;
  readonly state: "pending" | "online" | "offline";
  /** Why it is not online, or what is wrong though it is, as a sentence; null before the first failure. */
  readonly reason: string | null;
  /** Of the connection that is online: since when, what the target took, and how far the media goes. Null where none is. */
  readonly metrics: { readonly activeSec: number; readonly bytes: number; readonly mediaTimeMs: number } | null;
}

/** A multistream target of the session changed its state. `told` is what webhooks hear of it, if anything. */
export interface TargetChanged extends Fact {
  readonly type: "target-changed";
  readonly sessionId: string;
  readonly target: ReportedTarget;
  readonly state: "idle" | "pending" | "online" | "offline";
  readonly reason: string | null;
  readonly told: "connected" | "error" | "disconnected" | null;
}

/** The outcome of one source segment in the rungs of the ladder; `transcode` events have the same words. */
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
  | RungsRecorded
  | SpanSealed
  | RecordingFailed
  | RecordingSpooled
  | SourceMetrics
  | TargetChanged
  | SegmentTranscoded;

/** A group of viewers: kinds of device and software, and a country (ISO 3166-1 alpha-2). Empty texts where unknown. */
export interface Audience {
  readonly deviceType: string;
  readonly os: string;
  readonly browser: string;
  readonly country: string;
}

/**
 * The viewers of one playback id and audience through this node. Told every 10 s while there are any, and once more when the last has left.
 * Without an audience: of those that nothing is known of.
 */
export interface ViewerCount {
  readonly playbackId: string;
  readonly audience?: Audience;
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
