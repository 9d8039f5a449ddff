import type { Pull, SourceTrack } from "@weir/contract";
import { strings } from "../../shared/strings.ts";

const text = strings.pulls;
const HIDDEN = "***";
/** A source as a form has it. */
export interface PullDraft {
  readonly source: string;
  /** One on each line. */
  readonly headers: string;
  readonly onlyWhileWatched: boolean;
}

/** The draft of a present source; empty where Weir hides parts of it, which must be typed again. */
export function draftOf(pull: Pull | undefined): PullDraft {
  const source = !pull || hasHidden(pull) ? "" : pull.source;
  return { source, headers: "", onlyWhileWatched: pull?.onlyWhileWatched === true };
}

/** Weir hides a part of the source. */
export function hasHidden({ source, headers = {} }: Pull): boolean {
  return source.includes(HIDDEN) || Object.values(headers).includes(HIDDEN);
}

/** The source that the form describes; null while it is incomplete. */
export function pullOf(draft: PullDraft): Pull | null {
  const source = draft.source.trim();
  const headers = headersOf(draft.headers);
  if (!/^[a-z]+:\/\/[^/\s]+\S*$/i.test(source) || headers === null) return null;
  return {
    source,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(draft.onlyWhileWatched && { onlyWhileWatched: true }),
  };
}

/** Null where a line is not one. */
export function headersOf(lines: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const line of lines.split("\n").filter((each) => each.trim() !== "")) {
    const [, name, value] = line.match(/^\s*([^\s:]+)\s*:\s*(\S.*?)\s*$/) ?? [];
    if (name === undefined || value === undefined) return null;
    headers[name] = value;
  }
  return headers;
}

/** For code that others may see. */
export function masked(pull: Pull): Pull {
  const { source, headers, ...rest } = pull;
  const [place = ""] = source.split(/[?#]/, 1);
  const query = source.slice(place.length);
  const parts = query.slice(1).split("&");
  const shown = place
    .replace(/^([a-z]+:\/\/)[^/]*@/i, "$1USER:PASSWORD@")
    .replace(/^(rtmps?:\/\/.*\/)[^/]*$/i, "$1NAME");
  return {
    source: shown + query.slice(0, 1) + parts.map((part) => maskedPart(part, /^srt:/i.test(source))).join("&"),
    ...(headers && { headers: Object.fromEntries(Object.keys(headers).map((name) => [name, "SECRET"])) }),
    ...rest,
  };
}

/** One `name=value` of a query. Numbers of one or two digits are no secrets, nor are most parameters of SRT. */
function maskedPart(part: string, isSrt: boolean): string {
  const name = part.slice(0, part.indexOf("=") + 1);
  const isOpen = isSrt ? !/^(streamid|passphrase)=$/i.test(name) : /^\d{0,2}$/.test(part.slice(name.length));
  return isOpen ? part : `${name}SECRET`;
}

/** A track in words. */
export function trackText(track: SourceTrack): string {
  const { kind, codec, width = 0, height = 0, frameRate, sampleRate = 0, channels = 0 } = track;
  if (kind === "audio") return text.audio(String(sampleRate / 1000), text.channels(channels), codec);
  const rate = frameRate === undefined ? null : String(Math.round(frameRate * 100) / 100);
  return text.video(`${width} × ${height}`, codec, rate);
}
