import type { PublishAddress } from "@weir/formats/rtmp";

const MAX_WORDS = 200;
/** Shorter parts of a URL are common words like `app` or `live`. For the stream key the limit is lower. */
const MIN_SECRET = 5;
const MIN_KEY = 3;

/** The parts of an RTMP URL. Everything but the host may be secret. */
export interface RtmpAddress extends PublishAddress {
  readonly isSecure: boolean;
}

/** Null for URLs that are not RTMP or have no stream key. The key is everything after the last slash, including the query. */
export function rtmpAddressOf(url: string): RtmpAddress | null {
  const [, scheme = "", host = "", app = "", streamName = ""] =
    /^(rtmps?):\/\/([^/]+)\/([^?]*)\/([^/?][^/]*)$/i.exec(splitQuery(url)) ?? [];
  if (streamName === "") return null;
  const name = host.slice(host.lastIndexOf("@") + 1);
  const query = url.slice(splitQuery(url).length);
  return {
    isSecure: scheme.toLowerCase() === "rtmps",
    app,
    tcUrl: `${scheme.toLowerCase()}://${name}/${app}`,
    streamName: streamName + query,
  };
}

const splitQuery = (url: string): string => url.split("?")[0] ?? "";

/** Sanitizes a target's message for display: one short line without any part of its URL except the host. */
export function cleanWords(words: string, url: string): string {
  let clean = words.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  for (const secret of secretsOf(url)) clean = clean.replaceAll(new RegExp(escaped(secret), "giu"), "…");
  return clean.length > MAX_WORDS ? `${clean.slice(0, MAX_WORDS)}…` : clean;
}

/** The parts of a URL, raw and decoded, longest first. */
function secretsOf(url: string): string[] {
  const rest = url.replace(/^[a-z]+:\/\//i, "");
  const [hostAndUser = ""] = rest.split(/[/?]/);
  const user = hostAndUser.includes("@") ? hostAndUser.slice(0, hostAndUser.lastIndexOf("@")) : "";
  const path = rest.slice(hostAndUser.length);
  const parts = [path.slice(1), ...path.split(/[/?&=#]/), ...path.split(/[/?]/), ...user.split(":")];
  const key = splitQuery(path).split("/").at(-1) ?? "";
  const isSecret = (part: string) => part.length >= (part === key ? MIN_KEY : MIN_SECRET);
  const spelt = parts.filter(isSecret).flatMap((part) => [part, decoded(part)]);
  return [...new Set(spelt)].sort((a, b) => b.length - a.length);
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
