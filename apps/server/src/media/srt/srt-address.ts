/** The parameters of an SRT URL, in the query syntax of libsrt's tools and FFmpeg. */
export interface SrtAddress {
  /** Identifies the stream at the target, and is as secret as a stream key. Empty for none. */
  readonly streamId: string;
  /** Enables encryption; null for none. */
  readonly passphrase: string | null;
  /** Length of the key derived from the passphrase; 0 for the library's default. */
  readonly keyBytes: number;
  /** Receiver latency, during which lost packets can be retransmitted. */
  readonly latencyMs: number;
}

const DEFAULT_LATENCY_MS = 120;
const MAX_LATENCY_MS = 10_000;
/** The maximum that libsrt accepts. */
const MAX_STREAM_ID_BYTES = 512;
const PASSPHRASE = { least: 10, most: 79 };
const KEY_BYTES = [0, 16, 24, 32];

/** Parses an SRT URL. Returns a sentence if nothing can be sent to it; the sentence contains no part of the URL, which is secret. */
export function srtAddressOf(url: string): SrtAddress | string {
  const [, authority = "", query = ""] = /^srt:\/\/([^/?#]+)\/?(?:\?(.*))?$/is.exec(url) ?? [];
  if (!/:\d+$/.test(authority)) return "it has no port: srt://host:port?streamid=key";
  const said = parametersOf(query);
  const mode = said.get("mode") ?? "caller";
  const streamId = said.get("streamid") ?? "";
  const passphrase = said.get("passphrase") ?? null;
  const keyBytes = Number(said.get("pbkeylen") ?? 0);
  const latencyMs = Number(said.get("latency") ?? DEFAULT_LATENCY_MS);
  if (mode !== "caller") return "its mode must be caller";
  if (Buffer.byteLength(streamId) > MAX_STREAM_ID_BYTES) return `its streamid is over ${MAX_STREAM_ID_BYTES} bytes`;
  const length = passphrase === null ? PASSPHRASE.least : Buffer.byteLength(passphrase);
  if (length < PASSPHRASE.least || length > PASSPHRASE.most)
    return `its passphrase must have ${PASSPHRASE.least} to ${PASSPHRASE.most} characters`;
  if (!KEY_BYTES.includes(keyBytes)) return "its pbkeylen must be 16, 24 or 32";
  if (!Number.isInteger(latencyMs) || latencyMs < 0 || latencyMs > MAX_LATENCY_MS)
    return `its latency must be a number of milliseconds up to ${MAX_LATENCY_MS}`;
  return { streamId, passphrase, keyBytes, latencyMs };
}

/** Not URLSearchParams: a streamid may contain `#`, `?` and `=`, and a plus is a plus. Names are case-insensitive. */
function parametersOf(query: string): Map<string, string> {
  const pairs = query.split("&").map((pair) => {
    const at = pair.indexOf("=");
    const [name, value] = at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)];
    return [name.toLowerCase(), decoded(value)] as const;
  });
  return new Map(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
