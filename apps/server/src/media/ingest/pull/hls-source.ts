import { createDecipheriv } from "node:crypto";
import { readPlaylist, type SourceKey, type SourceMedia, type SourceSegment } from "@weir/formats/hls";
import type { Clock } from "../../../platform/clock.ts";
import { SourceProblem } from "./source-problem.ts";
import { childOf, type SourceRequests } from "./source-requests.ts";
import { wait } from "./wait.ts";

/** RFC 8216bis 4.4.4.4. Others are not named: nothing of what a source answers is shown. */
const REFUSED_METHODS = ["SAMPLE-AES", "SAMPLE-AES-CTR"];
/** A list of a day in segments of two seconds has half of it. */
const MAX_PLAYLIST_BYTES = 4 * 1024 * 1024;
/** Behind the newest segment, as a player begins (RFC 8216 6.3.3). */
const TARGETS_BEHIND = 3;
/** A list that has not grown for so many target durations is dead; and longer than any server needs to start again. */
const STALE_TARGETS = 6;
const MIN_STALE_MS = 30_000;
/** Lists name segments before caches have them. */
const MAX_MISSES = 4;

interface HlsSettings {
  readonly requests: SourceRequests;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The transport stream of an HLS playlist, of which the first text is known: from its beginning where it has ended, else from three target
 * durations before its end. Segments are followed by their numbers; their names may be used again.
 */
export class HlsSource {
  readonly #settings: HlsSettings;
  #key: { readonly url: string; readonly bytes: Buffer } | null = null;

  constructor(settings: HlsSettings) {
    this.#settings = settings;
  }

  async *media(url: string, text: string): AsyncGenerator<Uint8Array, void> {
    const { clock, signal } = this.#settings;
    const entry = await this.#mediaListOf(url, text);
    let { list } = entry;
    let next = list.isEnded ? list.mediaSequence : firstOf(list);
    let grewAt = clock.monotonic();
    for (;;) {
      const end = list.mediaSequence + list.segments.length;
      // A server that began anew counts from the beginning again.
      if (next > end + TARGETS_BEHIND) next = firstOf(list);
      next = Math.max(next, list.mediaSequence);
      if (next < end) grewAt = clock.monotonic();
      for (; next < end; next++) {
        const segment = list.segments[next - list.mediaSequence];
        if (segment && !segment.isGap) yield* this.#segment(segment, next, entry.url, list.targetDuration);
      }
      if (list.isEnded) return;
      const staleMs = Math.max(MIN_STALE_MS, list.targetDuration * STALE_TARGETS * 1000);
      if (clock.monotonic() - grewAt > staleMs) throw new SourceProblem("The source's playlist no longer grows.");
      await wait(clock, (list.targetDuration * 1000) / 2, signal);
      const read = await this.#read(entry.url);
      if (read?.kind === "media") list = read;
      else if (read) throw new SourceProblem("The source's playlist has become one of another kind.");
    }
  }

  async #mediaListOf(url: string, text: string): Promise<{ url: string; list: SourceMedia }> {
    const first = readPlaylist(text);
    if (first.kind === "media") return { url, list: first };
    const [best] = first.variants.toSorted((a, b) => b.bandwidth - a.bandwidth).filter((one) => !one.hasSeparateSound);
    if (!best)
      throw new SourceProblem(
        "The source keeps its sound in a playlist of its own, which Weir does not pull. Use a source with both in one.",
      );
    const child = childOf(best.uri, url);
    const list = await this.#read(child);
    if (list?.kind !== "media") throw new SourceProblem("The source's playlist leads to no playlist of segments.");
    return { url: child, list };
  }

  async #read(url: string) {
    const found = await this.#settings.requests.whole(url, MAX_PLAYLIST_BYTES);
    return found && readPlaylist(found.bytes.toString("utf8"));
  }

  async *#segment(
    { uri, range, map, key }: SourceSegment,
    number: number,
    base: string,
    targetDuration: number,
  ): AsyncGenerator<Uint8Array, void> {
    const { requests, clock, signal } = this.#settings;
    if (map !== null)
      throw new SourceProblem(
        "The source has segments in MP4, which Weir does not pull yet. Use one with MPEG-TS segments.",
      );
    const url = childOf(uri, base);
    for (let misses = 0; misses < MAX_MISSES; misses++) {
      const body = await requests.open(url, range);
      if (body) return yield* key ? decrypted(body.chunks, await this.#cipher(key, number, base)) : body.chunks;
      await wait(clock, (targetDuration * 1000) / 2, signal);
    }
  }

  async #cipher({ method, uri, iv }: SourceKey, number: number, base: string) {
    if (method !== "AES-128") {
      const name = REFUSED_METHODS.find((known) => known === method) ?? "an unknown method";
      throw new SourceProblem(`The source is encrypted with ${name}, which Weir does not read. Use AES-128 or none.`);
    }
    const url = childOf(uri, base);
    if (this.#key?.url !== url) {
      const found = await this.#settings.requests.whole(url, 16);
      if (found?.bytes.byteLength !== 16)
        throw new SourceProblem("The source's key is not to be had, or not one of AES-128.");
      this.#key = { url, bytes: found.bytes };
    }
    return createDecipheriv(
      "aes-128-cbc",
      this.#key.bytes,
      Buffer.from(iv ?? number.toString(16).padStart(32, "0"), "hex"),
    );
  }
}

async function* decrypted(chunks: AsyncIterable<Uint8Array>, cipher: ReturnType<typeof createDecipheriv>) {
  try {
    for await (const chunk of chunks) yield cipher.update(chunk);
    yield cipher.final();
  } catch (error) {
    if (error instanceof SourceProblem) throw error;
    throw new SourceProblem("A segment of the source cannot be decrypted with its key.");
  }
}

/** The number of the first segment to play of a list that grows. */
function firstOf({ segments, mediaSequence, targetDuration }: SourceMedia): number {
  let behind = 0;
  let at = segments.length;
  while (at > 0 && behind < TARGETS_BEHIND * targetDuration) behind += segments[--at]?.duration ?? 0;
  return mediaSequence + at;
}
