/** What the query of an SRT address says, as libsrt's own tools and FFmpeg have it. */
export interface SrtAddress {
  /** Names the stream at the target, and is as secret as a stream key. Empty for none. */
  readonly streamId: string;
  /** Encrypts the stream; null for none. */
  readonly passphrase: string | null;
  /** Of the key that the passphrase makes; 0: as the library likes. */
  readonly keyBytes: number;
  /** How much time the target has for asking again for what was lost. */
  readonly latencyMs: number;
}

const DEFAULT_LATENCY_MS = 120;
const MAX_LATENCY_MS = 10_000;
/** libsrt takes no more. */
const MAX_STREAM_ID_BYTES = 512;
const PASSPHRASE = { least: 10, most: 79 };
const KEY_BYTES = [0, 16, 24, 32];

/** An SRT address in its parts, or the sentence why it is none that a stream can be sent to. Such a sentence contains nothing of the address. */
export function srtAddressOf(url: string): SrtAddress | string {
  const [, authority = "", query = ""] = /^srt:\/\/([^/?#]+)\/?(?:\?(.*))?$/is.exec(url) ?? [];
  if (!/:\d+$/.test(authority)) return "it has no port: srt://host:port?streamid=key";
  const said = parametersOf(query);
  const mode = said.get("mode") ?? "caller";
  const streamId = said.get("streamid") ?? "";
  const passphrase = said.get("passphrase") ?? null;
  const keyBytes = Number(said.get("pbkeylen") ?? 0);
  const latencyMs = Number(said.get("latency") ?? DEFAULT_LATENCY_MS);
  if (mode !== "caller") return "its mode is not caller, and this server only calls";
  if (Buffer.byteLength(streamId) > MAX_STREAM_ID_BYTES) return `its streamid is over ${MAX_STREAM_ID_BYTES} bytes`;
  const length = passphrase === null ? PASSPHRASE.least : Buffer.byteLength(passphrase);
  if (length < PASSPHRASE.least || length > PASSPHRASE.most)
    return `its passphrase does not have ${PASSPHRASE.least} to ${PASSPHRASE.most} characters`;
  if (!KEY_BYTES.includes(keyBytes)) return "its pbkeylen is not 16, 24 or 32";
  if (!Number.isInteger(latencyMs) || latencyMs < 0 || latencyMs > MAX_LATENCY_MS)
    return `its latency is not a number of milliseconds up to ${MAX_LATENCY_MS}`;
  return { streamId, passphrase, keyBytes, latencyMs };
}

/** By hand: a streamid may contain `#`, `?` and `=`, and a plus is a plus. Names are read whatever their case. */
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
