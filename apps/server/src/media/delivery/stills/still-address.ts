import type { PreviewShape, StoryboardCues } from "../../thumbnails/index.ts";
import type { StillFormat } from "../../transcode/index.ts";
import type { PlaybackAddress } from "../front/access-request.ts";

/** Thumbnails follow the access to the content; they never admit a new viewer. */
export type StillAddress = PlaybackAddress & StillTarget;

/** A thumbnail, an animated preview, a storyboard list or one of its sheets. */
type StillTarget =
  /** `cues` name a region of a sheet, or a picture each, for players that ignore regions. */
  | { readonly kind: "storyboard"; readonly cues: StoryboardCues }
  | { readonly kind: "preview" }
  | { readonly kind: "sheet"; readonly nth: number }
  /** The picture at the beginning of a segment of a session that viewers go back in. */
  | { readonly kind: "moment"; readonly sessionId: string; readonly msn: number }
  | {
      readonly kind: "still";
      /** The newest of a live stream, one at a given time of stored media, or the number of a storyboard picture. */
      readonly picture: "latest" | "at" | number;
      readonly format: StillFormat;
    };

const PICTURE = /(source\/latest|thumbnail|thumbnails\/keyframes_(\d{1,6}))\.(jpg|png)|(animated\.webp)/;
const OF_TIMELINE = /(?:(thumbnails|keyframes)\.vtt|storyboard_(\d{1,3})\.jpg|s\/([\w-]{1,64})\/(\d{1,15})\.jpg)/;

/** As strict as the URLs of media. */
const ADDRESS = new RegExp(
  `^(?:/asset)?/hls/([a-z0-9]{4,64})/(?:${PICTURE.source}|thumbnails/${OF_TIMELINE.source})(?:\\?[^#]*)?$`,
);

/**
 * Parses the path of a thumbnail: `/hls/{playbackId}/source/latest.jpg`, `…/thumbnail.jpg`, `…/thumbnails/keyframes_{n}.jpg`, each also as `.png`,
 * `…/animated.webp`, `…/thumbnails/thumbnails.vtt`, `…/thumbnails/keyframes.vtt` `…/thumbnails/storyboard_{n}.jpg` or `…/thumbnails/s/{session}/{msn}.jpg`. Null for other paths.
 */
export function parseStillAddress(url: string): StillAddress | null {
  const [, playbackId, name, nth, extension, preview, list, sheet, sessionId, msn] = ADDRESS.exec(url) ?? [];
  if (playbackId === undefined) return null;
  const of = { playbackId, protocol: "hls", token: null, step: "follow" } as const;
  if (preview !== undefined) return { kind: "preview", ...of };
  if (sessionId !== undefined) return { kind: "moment", ...of, sessionId, msn: Number(msn) };
  if (sheet !== undefined) return { kind: "sheet", ...of, nth: Number(sheet) };
  if (name === undefined) return { kind: "storyboard", ...of, cues: list === "keyframes" ? "pictures" : "sheets" };
  const picture = nth !== undefined ? Number(nth) : name === "thumbnail" ? "at" : "latest";
  return { kind: "still", ...of, picture, format: extension === "png" ? "png" : "jpeg" };
}

const WIDTHS = ["160", "320", "640", "1280"];
const SECONDS = /^\d{1,8}(\.\d{1,6})?$/;

/** `width` of a live thumbnail; null for widths that are not offered. Other parameters only bypass caches and are ignored. */
export function parseWidth(url: string): number | null {
  const width = new URLSearchParams(url.split("?", 2)[1]).get("width");
  return width !== null && WIDTHS.includes(width) ? Number(width) : null;
}

/** `time` in seconds and `width` of a thumbnail; null if missing. Only a few widths are offered, since each is made and cached separately. */
export function parseStillQuery(url: string): { seconds: number | null; width: number | null } | "invalid" {
  const query = new URLSearchParams(url.split("?", 2)[1]);
  const [time, width] = [query.get("time"), query.get("width")];
  if (time !== null && !SECONDS.test(time)) return "invalid";
  if (width !== null && !WIDTHS.includes(width)) return "invalid";
  return { seconds: time === null ? null : Number(time), width: width === null ? null : Number(width) };
}

const MAX_PREVIEW_SECONDS = 10;
const PREVIEW = { seconds: 5, width: "320", frameRate: "8" } as const;
const PREVIEW_WIDTHS = ["160", "320", "640"];
const FRAME_RATE = /^(?:[1-9]|1[0-5])$/;

/** `start` and `end` in seconds, `width` and `fps` of a preview. Times are rounded to tenths of a second, to limit the number of variants. */
export function parsePreviewQuery(url: string): PreviewShape | "invalid" {
  const query = new URLSearchParams(url.split("?", 2)[1]);
  const start = query.get("start") ?? "0";
  if (!SECONDS.test(start)) return "invalid";
  const end = query.get("end") ?? String(Number(start) + PREVIEW.seconds);
  const [width, frameRate] = [query.get("width") ?? PREVIEW.width, query.get("fps") ?? PREVIEW.frameRate];
  if (!SECONDS.test(end) || !PREVIEW_WIDTHS.includes(width) || !FRAME_RATE.test(frameRate)) return "invalid";
  const [from, to] = [inTenths(start), inTenths(end)];
  if (to <= from || to - from > MAX_PREVIEW_SECONDS) return "invalid";
  return { start: from, end: to, width: Number(width), frameRate: Number(frameRate) };
}

const inTenths = (seconds: string): number => Math.round(Number(seconds) * 10) / 10;

const CREDENTIALS = /[?&]((?:jwt|accessKey)=[^&#]*)/g;

/** The credentials of a query, unchanged, for the URLs in the response; empty without any. */
export function credentialQuery(url: string): string {
  const found = [...url.matchAll(CREDENTIALS)].map(([, credential]) => credential);
  return found.length > 0 ? `?${found.join("&")}` : "";
}
