/** The conversions of audio that a child makes. */

export interface AudioSource {
  readonly codec: "aac" | "opus";
  /** Base64 of the AudioSpecificConfig; empty for Opus. */
  readonly config: string;
  readonly sampleRate: number;
  readonly channels: number;
}

/** Always at 48 kHz. */
export interface AudioTarget {
  readonly codec: "aac" | "opus";
  readonly channels: 1 | 2;
  readonly bitrateBps: number;
}

export interface AudioStart {
  readonly source: AudioSource;
  readonly target: AudioTarget;
}
