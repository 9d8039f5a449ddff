/** Measures when parts are published, in wall-clock time. */
export interface PartTimes {
  /** Delay of each part in milliseconds: from the end of its media, by program date-time, until the playlist lists it. In order. */
  readonly lateness: number[];
  /** When each part was first listed, in milliseconds since the epoch. */
  readonly listedAt: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Follows a media playlist with blocking requests, like a player. */
export function followParts(playlistUrl: string): PartTimes {
  const lateness: number[] = [];
  const known = new Map<string, number>();
  const stopped = new AbortController();
  const follow = async (): Promise<void> => {
    let next = "";
    while (!stopped.signal.aborted) {
      const response = await fetch(playlistUrl + next, { signal: stopped.signal });
      const { parts, msn, part } = read(await response.text());
      const now = Date.now();
      for (const { uri, endsAt } of parts) {
        // Parts in the first response were published earlier.
        if (!known.has(uri) && next !== "") lateness.push(now - endsAt);
        if (!known.has(uri)) known.set(uri, now);
      }
      next = `${playlistUrl.includes("?") ? "&" : "?"}_HLS_msn=${msn}&_HLS_part=${part}`;
    }
  };
  const following = follow().catch((error: unknown) => {
    if (!stopped.signal.aborted) throw error;
  });
  return {
    lateness,
    listedAt: known,
    stop: () => {
      stopped.abort();
      return following;
    },
  };
}

interface ListedPart {
  readonly uri: string;
  /** Unix milliseconds. */
  readonly endsAt: number;
}

/** The listed parts, and the next one. */
function read(playlist: string): { parts: ListedPart[]; msn: number; part: number } {
  const parts: ListedPart[] = [];
  let msn = Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(playlist)?.[1] ?? 0);
  let part = 0;
  let dateMs = Number.NaN;
  for (const line of playlist.split("\n")) {
    const [, date] = /^#EXT-X-PROGRAM-DATE-TIME:(.+)$/.exec(line) ?? [];
    if (date) dateMs = Date.parse(date);
    const [, seconds, uri] = /^#EXT-X-PART:DURATION=([\d.]+).*URI="([^"]+)"/.exec(line) ?? [];
    if (seconds && uri) {
      dateMs += Number(seconds) * 1000;
      part++;
      if (!Number.isNaN(dateMs)) parts.push({ uri, endsAt: dateMs });
    }
    if (!line.startsWith("#") && line.trim() !== "") {
      msn++;
      part = 0;
      dateMs = Number.NaN;
    }
  }
  return { parts, msn, part };
}
