import { Agent, get } from "node:http";

const ANSWER_WITHIN_MS = 15_000;
const agent = new Agent({ keepAlive: true });

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** `performance.now()` after the last byte. */
  readonly at: number;
}

export function fetchBytes(url: string, by: Agent = agent): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: by, timeout: ANSWER_WITHIN_MS }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks), at: performance.now() }),
      );
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${ANSWER_WITHIN_MS} ms: ${url}`)));
    request.on("error", reject);
  });
}

/** URL of a live stream's video playlist, polled until it exists. */
export async function videoPlaylistUrl(hlsUrl: string): Promise<string> {
  const until = performance.now() + ANSWER_WITHIN_MS;
  while (performance.now() < until) {
    const { body } = await fetchBytes(hlsUrl);
    const path = /^.*\/source\/index\.m3u8(?:\?.*)?$/m.exec(body.toString())?.[0];
    if (path) return new URL(path, hlsUrl).href;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`no video at ${hlsUrl}`);
}

/** URI of a playlist's newest part, and the position of the part after it. */
export function newestPart(playlist: string): {
  readonly uri: string;
  readonly msn: number;
  readonly nextPart: number;
} {
  const uri = playlist.matchAll(/#EXT-X-PART:.*URI="((\d+)\.(\d+)\.m4s)"/g);
  const [, name = "", msn = "0", part = "0"] = [...uri].at(-1) ?? [];
  if (name === "") throw new Error("the playlist has no parts");
  return { uri: name, msn: Number(msn), nextPart: Number(part) + 1 };
}

/** Decode time of a fragment's first sample in milliseconds, for a 90 kHz track (`tfdt`, ISO/IEC 14496-12 8.8.12). */
export function fragmentStartMs(fragment: Buffer): number {
  const at = fragment.indexOf("tfdt");
  if (at < 0) throw new Error("not a fragment");
  const isLong = fragment.readUInt8(at + 4) === 1;
  const ticks = isLong ? Number(fragment.readBigUInt64BE(at + 8)) : fragment.readUInt32BE(at + 8);
  return ticks / 90;
}
