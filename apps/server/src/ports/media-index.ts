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
