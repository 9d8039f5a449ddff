/** The object keys of a recording's files begin with this: both floors put it together from ids alone, never from a user's words. */
export function recordingPrefix(projectId: string, sessionId: string): string {
  return `v1/${projectId}/rec/${sessionId}/`;
}

/** Media that lies whole in the object store, as delivery needs it to serve HLS and MP4. */
export interface MediaIndex {
  /** The session of a recording, or the asset. */
  readonly id: string;
  readonly projectId: string;
  /** The key of each file is `{keyPrefix}{rendition}/{file}`. */
  readonly keyPrefix: string;
  readonly renditions: readonly StoredRendition[];
  /** More renditions are being made: ask again soon. */
  readonly isGrowing?: boolean;
  /** Of an asset: its MP4s. A recording has that of its source. */
  readonly mp4s?: readonly StaticMp4[];
}

/** An MP4 that delivery serves as `static{name}.mp4`. */
export interface StaticMp4 {
  /** `source`, or the name of a profile. */
  readonly name: string;
  /** Of the media index. */
  readonly rendition: string;
  readonly bytes?: number;
  readonly width?: number;
  readonly height?: number;
  /** Bits per second. */
  readonly bitrate?: number;
}

/** Init segments, spans and the segments inside them, in order. */
export interface StoredRendition {
  readonly rendition: string;
  readonly track: StoredTrack;
  readonly segments: readonly StoredSegment[];
  /** Size of each span in bytes, by its name. */
  readonly spanBytes: ReadonlyMap<string, number>;
}

export interface StoredTrack {
  readonly kind: "video" | "audio";
  readonly codec: "avc" | "hevc" | "av1" | "aac" | "opus";
  /** The decoder configuration (body of `avcC`, `hvcC`, `av1C` or `dOps`, or the AudioSpecificConfig), base64. */
  readonly config: string;
  readonly timescale: number;
  readonly codecString: string;
  readonly width?: number;
  readonly height?: number;
  /** Frames a second as the encoder declares them; absent where it does not. */
  readonly frameRate?: number;
  readonly sampleRate?: number;
  readonly channels?: number;
}

export interface StoredSegment {
  readonly msn: number;
  readonly epoch: number;
  /** Start on the timeline and duration, in ticks of the rendition's timescale. */
  readonly startTicks: number;
  readonly durationTicks: number;
  readonly programDateTimeMs: number;
  readonly discontinuity: boolean;
  /** A player can begin here: it starts with an IDR. Absent for a gap, and where an earlier version recorded it. */
  readonly isIndependent?: boolean;
  /** True when the rendition has no bytes for this MSN. */
  readonly gap: boolean;
  /** File name of the init segment: `init-{hash8}.mp4`. Empty for a gap. */
  readonly init: string;
  /** The span that holds the bytes, `{epoch}-{firstMsn}.m4s`, and where in it. Empty for a gap. */
  readonly span: string;
  readonly offset: number;
  readonly length: number;
}
