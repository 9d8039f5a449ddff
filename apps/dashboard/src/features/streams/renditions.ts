import type { Profile, Stream, StreamStatus } from "@weir/contract";

type Rendition = NonNullable<StreamStatus["renditions"]>[number];

export interface LadderLine extends Pick<Profile, "name" | "width" | "height"> {
  readonly bitrate: number | undefined;
  /** Null for a rung that the transcoder leaves out; absent while nothing is transcoded. */
  readonly now?: Rendition | null;
}

/** The stream's rungs, largest first, each with how it is doing; rungs that only the transcoder knows come too. */
export function ladderLines(stream: Stream): LadderLine[] {
  const { renditions = [] } = stream.status;
  const nowOf = (name: string): Rendition | null => renditions.find((it) => it.name === name) ?? null;
  const set = stream.profiles.map((profile) => ({
    ...profile,
    ...(renditions.length > 0 && { now: nowOf(profile.name) }),
  }));
  const others = renditions
    .filter(({ name }) => !stream.profiles.some((profile) => profile.name === name))
    .map((now) => ({ ...now, bitrate: undefined, now }));
  return [...set, ...others].sort((a, b) => b.height - a.height || b.width - a.width);
}
