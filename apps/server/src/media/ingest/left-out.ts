/** Tracks that a source has beside its first video and its first audio. */
export interface LeftOut {
  readonly video: number;
  readonly audio: number;
  /** Captions and subtitles. */
  readonly captions: number;
}

export const NOTHING_LEFT_OUT: LeftOut = { video: 0, audio: 0, captions: 0 };

/** As a sentence; null where nothing is left out. */
export function leftOutSentence({ video, audio, captions }: LeftOut): string | null {
  const parts = [
    counted(video, "further video track"),
    counted(audio, "further audio track"),
    counted(captions, "caption track"),
  ];
  const all = parts.filter((part) => part !== null);
  if (all.length === 0) return null;
  return `The source also has ${all.join(" and ")}. Weir takes its first video and its first audio alone.`;
}

const counted = (count: number, what: string): string | null =>
  count === 0 ? null : `${count} ${what}${count === 1 ? "" : "s"}`;
