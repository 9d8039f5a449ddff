/** The issues that a live stream can have. */
export type IssueCode =
  | "keyframe-interval-too-long"
  | "no-keyframes"
  | "audio-missing"
  | "video-missing"
  | "bitrate-unstable"
  | "clock-jumps"
  | "clock-repaired"
  | "tracks-left-out"
  | "packets-lost"
  | "packets-repaired"
  | "disk-nearly-full"
  | "admission-refused"
  | "unsupported-source"
  | "transcoder-failed"
  | "transcoder-behind"
  | "target-not-connected"
  | "target-too-slow"
  | "b-frames-with-webrtc-viewers";

/** An open issue. A harmless one is reported, and the stream still counts as healthy. */
export interface OpenIssue {
  readonly code: IssueCode;
  readonly sentence: string;
  readonly evidence: string;
  readonly remedy: string;
  readonly isHarmful: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly since: number;
}

export interface StreamIssues {
  readonly open: readonly OpenIssue[];
  /** Segments in a row without a fault of the transcoder, while an issue waits for them. */
  readonly wellSegments: number;
}
