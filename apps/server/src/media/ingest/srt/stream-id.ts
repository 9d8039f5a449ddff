/** What a stream id asks for. Each is for a person's message, never to be logged whole: it may contain a key. */
export type StreamIdRequest =
  | { readonly kind: "publish"; readonly streamKey: string }
  | { readonly kind: "empty" | "receive" };

/** `#!:` introduces keys and values (Haivision/srt, docs/features/access-control.md). */
const STANDARD = /^#!::?/;
const SCHEME = /^srt:\/\/[^/]*\//i;
/** Modes of the standard form that publish. `request` is its default, and what some encoders send. */
const PUBLISH_MODES = ["publish", "request", "bidirectional"];

/**
 * Finds the stream key in a stream id. Encoders and services write it in many forms:
 *
 * `KEY` · `live/KEY` · `host/live/KEY` · `publish:KEY` · `publish:live/KEY:user:password` · `KEY.stream,mode:publish,token:T` · `KEY?token=T` ·
 * `#!::r=KEY,m=publish` · `#!::h=live/KEY` · `#!::u=KEY` · `#!:{…}`
 *
 * Each may be percent-encoded, as in a URL, which FFmpeg sends as it is written. What follows the key is ignored. The result may still be any text:
 * `PublishConnection` checks it.
 */
export function readStreamId(streamId: string): StreamIdRequest {
  const id = decoded(streamId).replaceAll("\0", "").trim();
  if (id === "") return { kind: "empty" };
  return STANDARD.test(id) ? readStandard(id.replace(STANDARD, "")) : readPlain(id);
}

function readStandard(text: string): StreamIdRequest {
  const fields = new Map<string, string>();
  for (const pair of text.replace(/^\{|\}$/g, "").split(",")) {
    const at = pair.indexOf("=");
    if (at > 0) fields.set(pair.slice(0, at).trim().toLowerCase(), pair.slice(at + 1));
  }
  const mode = fields.get("m") ?? "publish";
  if (!PUBLISH_MODES.includes(mode)) return { kind: "receive" };
  return keyIn(fields.get("r") ?? fields.get("h") ?? fields.get("u") ?? "");
}

function readPlain(id: string): StreamIdRequest {
  const [mode = "", resource] = splitOnce(id.replace(SCHEME, ""), ":");
  if (/^(read|play|request)$/i.test(mode) && resource !== null) return { kind: "receive" };
  const isPublish = /^publish$/i.test(mode) && resource !== null;
  const [text = "", ...options] = (isPublish ? resource : id.replace(SCHEME, "")).split(",");
  if (options.some((option) => /^mode:(request|play|read)$/i.test(option.trim()))) return { kind: "receive" };
  // A user and a password follow.
  return keyIn(isPublish ? (text.split(":")[0] ?? "") : text);
}

/** The last part of a path, without a query and the suffix of one service. */
function keyIn(text: string): StreamIdRequest {
  const path = text.trim().split(/[?&]/)[0] ?? "";
  const parts = path.split("/").filter((part) => part !== "");
  const streamKey = (parts.at(-1) ?? "").replace(/\.stream$/, "");
  if (streamKey === "") return { kind: "empty" };
  // A path that climbs is an attack, whatever it ends with.
  return { kind: "publish", streamKey: parts.includes("..") ? ".." : streamKey };
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

function splitOnce(text: string, mark: string): readonly [string, string | null] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}
