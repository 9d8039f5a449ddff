import type { PublishAddress } from "@weir/formats/rtmp";

const MAX_WORDS = 200;
/** Shorter parts of an address are words that anybody may say: `app`, `live`. The stream key is one sooner. */
const MIN_SECRET = 5;
const MIN_KEY = 3;

/** A target's address in its parts. All of it but the host may be secret. */
export interface RtmpAddress extends PublishAddress {
  readonly isSecure: boolean;
}

/** Null for what is no RTMP address, and for one without a stream key. The key is what stands behind the last slash, with its query. */
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

/** A target's words, for people to read: one short line in which nothing of its address stands but its host. */
export function cleanWords(words: string, url: string): string {
  let clean = words.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  for (const secret of secretsOf(url)) clean = clean.replaceAll(new RegExp(escaped(secret), "giu"), "…");
  return clean.length > MAX_WORDS ? `${clean.slice(0, MAX_WORDS)}…` : clean;
}

/** The parts of an address, as they are and decoded, the longest first. */
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
