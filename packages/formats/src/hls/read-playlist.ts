import { FormatError } from "../bits/index.ts";

/** A playlist of another server, as far as its media is wanted. URIs are as written; durations in seconds. */
export type SourcePlaylist = SourceVariants | SourceMedia;

export interface SourceVariants {
  readonly kind: "multivariant";
  /** As listed. */
  readonly variants: readonly SourceVariant[];
}

export interface SourceVariant {
  readonly uri: string;
  /** Bits per second. */
  readonly bandwidth: number;
  /** The playlist of its sound; null where it has its sound itself, or none. */
  readonly sound: string | null;
  /** Other audio renditions of its group, and all its subtitles. */
  readonly others: { readonly audio: number; readonly captions: number };
}

export interface SourceMedia {
  readonly kind: "media";
  readonly targetDuration: number;
  readonly mediaSequence: number;
  readonly segments: readonly SourceSegment[];
  /** Nothing will be added. */
  readonly isEnded: boolean;
}

export interface SourceSegment {
  readonly uri: string;
  readonly duration: number;
  readonly range: { readonly offset: number; readonly length: number } | null;
  /** The server has no media for it. */
  readonly isGap: boolean;
  /** The init segment; null for a transport stream. */
  readonly map: SourceMap | null;
  readonly key: SourceKey | null;
}

/** EXT-X-MAP (RFC 8216 4.3.2.5). */
export interface SourceMap {
  readonly uri: string;
  readonly range: { readonly offset: number; readonly length: number } | null;
}

/** EXT-X-KEY (RFC 8216 4.3.2.4). */
export interface SourceKey {
  readonly method: string;
  readonly uri: string;
  /** 32 hexadecimal digits; null: the media sequence number is used. */
  readonly iv: string | null;
}

const MAX_TARGET_DURATION = 600;

/** Reads a playlist (RFC 8216 4). Unknown tags are skipped. Throws `FormatError` for a text that is none. */
export function readPlaylist(text: string): SourcePlaylist {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.trim());
  if (lines[0] !== "#EXTM3U") throw new FormatError("an HLS playlist", 0);
  return lines.some((line) => line.startsWith("#EXT-X-STREAM-INF:")) ? readVariants(lines) : readMedia(lines);
}

function readVariants(lines: readonly string[]): SourceVariants {
  /** Of each group: the default, or else the first. */
  const sounds = new Map<string, { readonly uri: string; readonly isDefault: boolean }>();
  const variants: {
    readonly uri: string;
    readonly bandwidth: number;
    readonly group: string | undefined;
    readonly subtitles: string | undefined;
  }[] = [];
  /** How many renditions, by type and group. */
  const counts = new Map<string, number>();
  let next: Map<string, string> | null = null;
  for (const line of lines) {
    const [name, value] = tagOf(line);
    if (name === "#EXT-X-MEDIA") {
      const media = attributesOf(value);
      const [uri, group, isDefault] = [media.get("URI"), media.get("GROUP-ID") ?? "", media.get("DEFAULT") === "YES"];
      const name = `${media.get("TYPE")} ${group}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const known = sounds.get(group);
      if (media.get("TYPE") === "AUDIO" && uri !== undefined && (!known || (isDefault && !known.isDefault)))
        sounds.set(group, { uri, isDefault });
    } else if (name === "#EXT-X-STREAM-INF") next = attributesOf(value);
    else if (next && line !== "" && !line.startsWith("#")) {
      const group = next.get("AUDIO");
      variants.push({
        uri: line,
        bandwidth: numberOf(next.get("BANDWIDTH") ?? "") ?? 0,
        group,
        subtitles: next.get("SUBTITLES"),
      });
      next = null;
    }
  }
  // Groups may be listed behind the variants that name them.
  const soundOf = (group: string | undefined) => (group === undefined ? null : (sounds.get(group)?.uri ?? null));
  const othersOf = (group: string | undefined, subtitles: string | undefined) => ({
    audio: Math.max(0, (counts.get(`AUDIO ${group}`) ?? 0) - 1),
    captions: counts.get(`SUBTITLES ${subtitles}`) ?? 0,
  });
  return {
    kind: "multivariant",
    variants: variants.map(({ group, subtitles, ...one }) => ({
      ...one,
      sound: soundOf(group),
      others: othersOf(group, subtitles),
    })),
  };
}

function readMedia(lines: readonly string[]): SourceMedia {
  const segments: SourceSegment[] = [];
  let [targetDuration, mediaSequence, isEnded] = [0, 0, false];
  let map: SourceMap | null = null;
  let key: SourceKey | null = null;
  let duration: number | null = null;
  let isGap = false;
  let range: { offset: number; length: number } | null = null;
  let rangeEnd = 0;
  for (const line of lines) {
    const [name, value] = tagOf(line);
    if (name === "#EXT-X-TARGETDURATION") targetDuration = numberOf(value) ?? 0;
    else if (name === "#EXT-X-MEDIA-SEQUENCE") mediaSequence = numberOf(value) ?? 0;
    else if (name === "#EXT-X-ENDLIST") isEnded = true;
    else if (name === "#EXT-X-GAP") isGap = true;
    else if (name === "#EXT-X-MAP") map = mapOf(attributesOf(value));
    else if (name === "#EXT-X-KEY") key = keyOf(attributesOf(value));
    else if (name === "#EXTINF") duration = numberOf(value.split(",")[0] ?? "") ?? 0;
    else if (name === "#EXT-X-BYTERANGE") {
      range = rangeOf(value, rangeEnd) ?? range;
    } else if (duration !== null && line !== "" && !line.startsWith("#")) {
      segments.push({ uri: line, duration, range, isGap, map, key });
      rangeEnd = range ? range.offset + range.length : 0;
      [duration, isGap, range] = [null, false, null];
    }
  }
  if (targetDuration <= 0 || targetDuration > MAX_TARGET_DURATION) throw new FormatError("a target duration", 0);
  return { kind: "media", targetDuration, mediaSequence, segments, isEnded };
}

/** `length@offset`; without an offset it is `from`. */
function rangeOf(text: string, from: number): { offset: number; length: number } | null {
  const [length, offset] = text.split("@").map(numberOf);
  return length === undefined ? null : { length, offset: offset ?? from };
}

function mapOf(attributes: ReadonlyMap<string, string>): SourceMap {
  return { uri: attributes.get("URI") ?? "", range: rangeOf(attributes.get("BYTERANGE") ?? "", 0) };
}

function keyOf(attributes: ReadonlyMap<string, string>): SourceKey | null {
  const method = attributes.get("METHOD") ?? "NONE";
  if (method === "NONE") return null;
  const [, iv = null] = /^0x([0-9a-f]{32})$/i.exec(attributes.get("IV") ?? "") ?? [];
  return { method, uri: attributes.get("URI") ?? "", iv };
}

function tagOf(line: string): [name: string, value: string] {
  if (!line.startsWith("#EXT")) return ["", ""];
  const colon = line.indexOf(":");
  return colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1)];
}

/** Without the quotes of quoted values. A name is looked for behind commas alone: anywhere, the time would grow with the square of a line's length. */
function attributesOf(value: string): Map<string, string> {
  const pairs = value.matchAll(/(?:^|,)\s*([A-Z0-9-]+)=(?:"([^"]*)"|([^",]*))/g);
  return new Map(Array.from(pairs, ([, name = "", quoted, plain = ""]) => [name, quoted ?? plain]));
}

/** A decimal number that JavaScript holds exactly enough; undefined for anything else. */
function numberOf(text: string): number | undefined {
  return /^\d{1,15}(\.\d{1,15})?$/.test(text.trim()) ? Number(text) : undefined;
}
