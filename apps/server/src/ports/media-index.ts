/** Prefix of the object keys of a recording's files. Both floors build it from ids only, never from text of a user. */
export function recordingPrefix(projectId: string, sessionId: string): string {
  return `v1/${projectId}/rec/${sessionId}/`;
}

/** Media that is complete in the object store, with all that delivery needs to serve it as HLS and MP4. */
export interface MediaIndex {
  /** Id of the recorded session, or of the asset. */
  readonly id: string;
  readonly projectId: string;
  /** Each file's key is `{keyPrefix}{rendition}/{file}`. */
  readonly keyPrefix: string;
  readonly renditions: readonly StoredRendition[];
  /** More renditions are being made; the reader should ask again soon. */
  readonly isGrowing?: boolean;
  /** The MP4s of an asset. A recording offers one MP4, of its source. */
  readonly mp4s?: readonly StaticMp4[];
  /** The file that an asset was made from, if it is kept. */
  readonly original?: OriginalFile;
}

/** A customer's file as it came. */
export interface OriginalFile {
  readonly key: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The asset's name: text of a user. */
  readonly name: string;
}

/** An MP4 that delivery serves as `static{name}.mp4`. */
export interface StaticMp4 {
  /** `source`, or the name of a profile. */
  readonly name: string;
  /** The rendition's name in the media index. */
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

/** Some segments of a rendition, in order. */
export type SealedSegments = Pick<StoredRendition, "rendition" | "track" | "segments">;

export interface StoredTrack {
  readonly kind: "video" | "audio";
  readonly codec: "avc" | "hevc" | "av1" | "aac" | "opus";
  /** The decoder configuration (body of `avcC`, `hvcC`, `av1C` or `dOps`, or the AudioSpecificConfig), base64. */
  readonly config: string;
  readonly timescale: number;
  readonly codecString: string;
  readonly width?: number;
  readonly height?: number;
  /** Frames per second as declared by the encoder; absent if it declares none. */
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
  /** A player can start here, because the segment starts with an IDR. Absent for a gap, and in recordings of earlier versions. */
  readonly isIndependent?: boolean;
  /** Where its first picture ends, in bytes from its start, if that picture decodes alone. Absent for sound, for a gap, and in media of earlier versions. */
  readonly keyframeBytes?: number;
  /** True if the rendition has no bytes for this MSN. */
  readonly gap: boolean;
  /** File name of the init segment: `init-{hash8}.mp4`. Empty for a gap. */
  readonly init: string;
  /** The span that holds the bytes, `{epoch}-{firstMsn}.m4s`, and the position in it. Empty for a gap. */
  readonly span: string;
  readonly offset: number;
  readonly length: number;
}
