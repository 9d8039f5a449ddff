const MAX_WORDS = 200;
/** Shorter parts of a URL are common words like `app` or `live`. For the stream key the limit is lower. */
const MIN_SECRET = 5;
const MIN_KEY = 3;

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
