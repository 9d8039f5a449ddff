/** A picture of stored media: all of a file, or a part of one that holds many. */
export interface StoryboardPicture {
  readonly startSeconds: number;
  /** When it was, in ms since the epoch, for a picture of a live stream. */
  readonly dateMs?: number;
  readonly url: string;
  /** Pixels of the file; null for all of it. */
  readonly part: { readonly x: number; readonly y: number; readonly width: number; readonly height: number } | null;
}

/** Begin of a cue, as in `01:02:03.500 --> …` or `02:03.500 --> …`. */
const CUE = /^(?:(\d+):)?(\d\d):(\d\d\.\d+) -->/;
/** The name of a cue of a live stream, as in a playlist's EXT-X-PROGRAM-DATE-TIME. */
const DATE = /^\d{4}-\d\d-\d\dT/;
const PART = /^#xywh=(?:pixel:)?(\d+),(\d+),(\d+),(\d+)$/;

/** The address of the list of pictures next to a playlist, with the playlist's credentials. */
export function storyboardAddress(playlist: string): string {
  const [path = "", query] = playlist.split("?");
  return path.replace(/[^/]*$/, "thumbnails/thumbnails.vtt") + (query === undefined ? "" : `?${query}`);
}

/** Reads a list of pictures (WebVTT). Addresses in it are relative to `base`; cues that name no picture are left out. */
export function parseStoryboard(text: string, base: string): StoryboardPicture[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, at) => {
    const [isCue, hours = "0", minutes, seconds] = CUE.exec(line) ?? [];
    const name = lines[at + 1];
    if (!isCue || !name) return [];
    const url = new URL(name, base);
    const [hasPart, x, y, width, height] = PART.exec(url.hash) ?? [];
    const part = hasPart ? { x: Number(x), y: Number(y), width: Number(width), height: Number(height) } : null;
    url.hash = "";
    const startSeconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
    const before = lines[at - 1] ?? "";
    return { startSeconds, url: url.href, part, ...(DATE.test(before) && { dateMs: Date.parse(before) }) };
  });
}

/** The picture to show for a moment; null where there are none. */
export function pictureAt(pictures: readonly StoryboardPicture[], seconds: number): StoryboardPicture | null {
  return pictures.findLast(({ startSeconds }) => startSeconds <= seconds) ?? pictures[0] ?? null;
}

/** The same for a moment of a live stream, in ms since the epoch. */
export function pictureAtDate(pictures: readonly StoryboardPicture[], dateMs: number): StoryboardPicture | null {
  const dated = pictures.filter((picture) => picture.dateMs !== undefined);
  return dated.findLast((picture) => (picture.dateMs ?? 0) <= dateMs) ?? dated[0] ?? null;
}

/** The pictures of what a playlist plays, in order; none where the server has none. */
export async function fetchStoryboard(playlist: string, signal: AbortSignal): Promise<StoryboardPicture[]> {
  const address = new URL(storyboardAddress(playlist), window.location.href);
  const response = await fetch(address, { signal });
  return response.ok ? parseStoryboard(await response.text(), address.href) : [];
}
