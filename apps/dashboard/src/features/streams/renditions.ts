import type { Profile, Stream, StreamStatus } from "@weir/contract";

export interface Rendition {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly state: "running" | "gap" | "off";
  /** Milliseconds from the source's coming to the rung's being ready. */
  readonly lagMs?: number | undefined;
}

interface TranscodingNow {
  readonly renditions?: readonly Rendition[];
  readonly transcoding?: { readonly state: "off" | "starting" | "running" | "source-only"; readonly reason?: string };
}

/** What the transcoder makes of a stream now, where the server tells it. */
export function transcodingOf(stream: Stream): TranscodingNow {
  const status: StreamStatus & TranscodingNow = stream.status;
  return status;
}

export interface LadderLine extends Pick<Profile, "name" | "width" | "height"> {
  readonly bitrate: number | undefined;
  /** Absent while nothing is transcoded. */
  readonly now: Rendition | undefined;
}

/** The stream's rungs, largest first, each with how it is doing; rungs that only the transcoder knows come too. */
export function ladderLines(stream: Stream): LadderLine[] {
  const { renditions = [] } = transcodingOf(stream);
  const set = stream.profiles.map((profile) => ({
    ...profile,
    now: renditions.find((it) => it.name === profile.name),
  }));
  const others = renditions
    .filter(({ name }) => !stream.profiles.some((profile) => profile.name === name))
    .map((now) => ({ ...now, bitrate: undefined, now }));
  return [...set, ...others].sort((a, b) => b.height - a.height || b.width - a.width);
}
