/** The facts that the media floor reports. */

import type { StoredSegment, StoredTrack } from "./media-index.ts";
import type { TimelinePosition } from "./publish-gate.ts";

interface Fact {
  readonly streamId: string;
  readonly epoch: number;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** The publisher left, deliberately or not. `lastPacketAt` is the time of its last packet. */
export interface SourceEnded extends Fact {
  readonly type: "source-ended";
  readonly why: "clean-stop" | "source-lost";
  readonly reason: string;
  readonly lastPacketAt: number;
}

/** Packets arrive again on a connection that had been silent. */
export interface SourceBack extends Fact {
  readonly type: "source-back";
}

/** A segment is complete in every rendition. Advances the session's position, counters and `lastSeen`. */
export interface SegmentClosed extends Fact {
  readonly type: "segment-closed";
  readonly sessionId: string;
  readonly position: TimelinePosition;
  /** Seconds and bytes of the source in this segment, all tracks. */
  readonly durationSeconds: number;
  readonly bytes: number;
  /** One row per rendition when the session records, and those of slates before it; empty otherwise. */
  readonly recorded: readonly RecordedSegment[];
}

export interface RecordedSegment extends StoredSegment {
  readonly rendition: string;
  readonly track: StoredTrack;
}

/** A segment was also recorded in the rungs of the ladder. Reported some seconds after the segment's own fact; counts for nothing else. */
export interface RungsRecorded extends Fact {
  readonly type: "rungs-recorded";
  readonly sessionId: string;
  readonly bytes: number;
  readonly recorded: readonly RecordedSegment[];
}

/** A span is in the object store and durable: `{v1/{project}/rec/{session}/{rendition}/{span}}`. Rows that point beyond its `bytes` are lost. */
export interface SpanSealed extends Fact {
  readonly type: "span-sealed";
  readonly sessionId: string;
  readonly rendition: string;
  readonly span: string;
  readonly bytes: number;
}

/** Media is missing from the session's recording from here on. Recording resumes when it can. */
export interface RecordingFailed extends Fact {
  readonly type: "recording-failed";
  readonly sessionId: string;
  readonly reason: string;
}

/** Parts of the session's recording are in this node's spool, because the object store has not accepted them yet. Reported every minute. */
export interface RecordingSpooled extends Fact {
  readonly type: "recording-spooled";
  readonly sessionId: string;
}

export interface TranscodingReport {
  readonly state: "off" | "starting" | "running" | "source-only";
  /** Why only the source quality plays, as a sentence. */
  readonly reason?: string;
  /**
   * The reason for playing source only: the machine is full, or too slow for any rendition now, the source cannot be transcoded, or the
   * transcoder failed repeatedly.
   */
  readonly cause?: "machine-full" | "too-slow" | "unsupported-source" | "transcoder-failed";
  /** All renditions are made again, and the last one that was paused must show that the machine carries it. */
  readonly isRecovering?: boolean;
  readonly renditions: readonly {
    /** The profile's name. */
    readonly name: string;
    readonly width: number;
    readonly height: number;
    /** While a ladder is made, *off* is a rendition that is paused because the machine is too slow. */
    readonly state: "running" | "gap" | "off";
    /** The age of the oldest picture that was sent to the encoder and is not encoded. */
    readonly lagMs: number;
  }[];
}

/** `none`: the source has no such track. `stopped`: the track has been silent for 2 seconds. */
export type TrackFlow = "none" | "flowing" | "stopped";

/** Measures of the source, taken once a second over the last ten. */
export interface SourceMeasure {
  /** Number of whole seconds of this publisher that the other figures cover, at most 10. */
  readonly measuredSeconds: number;
  /** Frames per second of media time; null while unknown, and without video. */
  readonly frameRate: number | null;
  /** Media time between the last two keyframes, or since the last keyframe if that is longer; null without video. */
  readonly keyframeIntervalMs: number | null;
  readonly video: TrackFlow;
  readonly audio: TrackFlow;
  /** Number of the last ten seconds that brought less than half a second of media. */
  readonly starvedSeconds: number;
  /** Jumps of the source's clock in the last minute. */
  readonly clockJumps: number;
  /** Frames of a pulled source in the last minute whose times were far off and were replaced. */
  readonly clockRepairs: number;
  /** Tracks that the source has and that are not taken, as a sentence; null if there are none. */
  readonly leftOut: string | null;
}

/** Bytes that recordings may still use. */
export interface RecordingRoom {
  /** On this node, where a recording waits until the object store accepts it. */
  readonly spoolFreeBytes: number;
  /** In the object store; null where it has no limit of its own. */
  readonly storeFreeBytes: number | null;
}

/** How well a WebRTC connection carried media since the last report. */
export interface LinkMeasure {
  /** Null where the other side does not tell. */
  readonly roundTripMs: number | null;
  /** Of the packets, on average: from 0 to 1. */
  readonly fractionLost: number;
  /** Packets that were asked for again. */
  readonly retransmits: number;
}

/** The same of a publisher over SRT, which has its lost packets sent again for as long as the two sides agreed. */
export interface SrtMeasure extends LinkMeasure {
  /** Packets that came too late, or never. */
  readonly latePackets: number;
  readonly latencyMs: number;
}

/** The same of all viewers by WebRTC: the median of the round trips, the average of the losses, and all retransmits. */
export interface ViewersMeasure extends LinkMeasure {
  readonly count: number;
  /** Viewers whose network does not carry the best there is, so that they get less. */
  readonly lowered: number;
}

export interface WebrtcMeasure {
  /** Null where the publisher uses another protocol. */
  readonly publisher: LinkMeasure | null;
  /** Null where nobody watches by WebRTC. */
  readonly viewers: ViewersMeasure | null;
  /** The source has B-frames, and somebody watched by WebRTC, or wanted to, in the last minute. */
  readonly hasBFrames: boolean;
}

/** Reported every 10 seconds while a publisher is live, at its first keyframe, and within a second of a change in health. */
export interface SourceMetrics extends Fact {
  readonly type: "source-metrics";
  readonly sessionId: string;
  readonly source: SourceMeasure;
  /** Null if the session is not recorded. */
  readonly recordingRoom: RecordingRoom | null;
  readonly mediaTimeMs: number;
  /** Bytes per second received since the last report. */
  readonly ingestRate: number;
  /** Bytes per second sent to viewers since the last report. */
  readonly outgoingRate: number;
  /** The state of the ladder; null if none was requested. */
  readonly transcoding: TranscodingReport | null;
  readonly webrtc: WebrtcMeasure;
  /** Null where the publisher uses another protocol. */
  readonly srt: SrtMeasure | null;
  /** The state of the multistream targets. */
  readonly targets: readonly TargetReport[];
}

/** A target of a stream, and the rendition that the server sends to it. */
export interface ReportedTarget {
  readonly id: string;
  readonly name: string;
  readonly profile: string;
}

export interface TargetReport {
  readonly target: ReportedTarget;
  readonly state: "pending" | "online" | "offline";
  /** The reason why the target is not online, or what is wrong although it is, as a sentence; null before the first failure. */
  readonly reason: string | null;
  /** The connection that is online: its start, what the target accepted, and the media position. Null without a connection. */
  readonly metrics: { readonly activeSec: number; readonly bytes: number; readonly mediaTimeMs: number } | null;
}

/** A multistream target of the session changed state. `told` is the event for webhooks, if any. */
export interface TargetChanged extends Fact {
  readonly type: "target-changed";
  readonly sessionId: string;
  readonly target: ReportedTarget;
  readonly state: "idle" | "pending" | "online" | "offline";
  readonly reason: string | null;
  readonly told: "connected" | "error" | "disconnected" | null;
}

/** The outcome of one source segment in the rungs of the ladder. `transcode` events use the same words. */
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
  /** Time from `at` until the last packet of any rendition came back. */
  readonly latencyMs: number;
  /** True if at least one rendition has the segment. */
  readonly success: boolean;
  /** Profiles of the renditions that lack it, and those of them that were paused, because the machine is too slow for all. */
  readonly missing: readonly string[];
  readonly paused: readonly string[];
  /** No rendition is paused, and none was in the last 30 s. */
  readonly isSteady: boolean;
  /**
   * The reason why a rendition lacks it: too late or paused, no capacity for the ladder or a source that cannot be transcoded, or a transcoder that
   * died. Null if every rendition has it.
   */
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

/** A group of viewers: device type, operating system, browser, and country (ISO 3166-1 alpha-2). Empty texts are unknown. */
export interface Audience {
  readonly deviceType: string;
  readonly os: string;
  readonly browser: string;
  readonly country: string;
}

/**
 * The viewers of one playback id and audience on this node. Reported every 10 s while there are any, and once more after the last one left.
 * Without an audience, these are the viewers about whom nothing is known.
 */
export interface ViewerCount {
  readonly playbackId: string;
  readonly audience?: Audience;
  /** Viewers right now. */
  readonly now: number;
  /** Viewers that started since the last report. */
  readonly begun: number;
  /** Ids of the viewers that started, at most 1,000 of them. */
  readonly newViewers: readonly string[];
  /** Watch time of all viewers since the last report, in milliseconds. */
  readonly watchedMs: number;
}

export interface EventSink {
  /** Accepts the viewer counts of this node and returns at once. Under pressure, counts are dropped before facts. */
  countViewers(counts: readonly ViewerCount[]): void;
  /**
   * Accepts a fact and returns at once. The order per stream is kept. Lifecycle facts are never dropped; metrics are dropped when the queue is
   * full.
   */
  report(fact: MediaFact): void;
  /** Resolves to true once everything reported so far is durable, or to false while the database accepts nothing. */
  settle(): Promise<boolean>;
  /** Number of facts, without telemetry, dropped for lack of room since the start. A caller that kept them may report them again. */
  readonly lost: number;
}
