/** One level of a playlist, as hls.js lists them. */
export interface Level {
  readonly height: number;
  /** Bits per second. */
  readonly bitrate: number;
}

/** The qualities that a viewer can choose, largest first. `id` finds the same quality again after the playlist is reloaded. */
export interface Quality {
  readonly id: string;
  readonly label: string;
  readonly level: number;
}

/** Levels as choices. Two of the same height are told apart by their bitrate. */
export function qualitiesOf(levels: readonly Level[]): Quality[] {
  return levels
    .map(({ height, bitrate }, level) => {
      const isAlone = levels.filter((other) => other.height === height).length === 1;
      const label =
        isAlone && height > 0
          ? `${height}p`
          : [height > 0 && `${height}p`, bitrateText(bitrate)].filter(Boolean).join(" · ");
      return { id: label, label, level, height, bitrate };
    })
    .sort((a, b) => b.height - a.height || b.bitrate - a.bitrate)
    .map(({ id, label, level }) => ({ id, label, level }));
}

function bitrateText(bitsPerSecond: number): string {
  if (bitsPerSecond < 1e6) return `${Math.round(bitsPerSecond / 1e3)} kbit/s`;
  return `${(bitsPerSecond / 1e6).toFixed(bitsPerSecond < 1e7 ? 1 : 0)} Mbit/s`;
}
