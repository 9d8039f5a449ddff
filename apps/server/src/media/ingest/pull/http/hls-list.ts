import { createDecipheriv } from "node:crypto";
import { readPlaylist, type SourceKey, type SourceMap, type SourceMedia, type SourceSegment } from "@weir/formats/hls";
import type { SourceOpening } from "../source-opening.ts";
import { SourceProblem } from "../source-problem.ts";
import { wait } from "../wait.ts";
import type { HttpPiece, PieceOf } from "./http-piece.ts";
import { Mp4Pieces } from "./mp4-pieces.ts";
import { childOf, type SourceRequests } from "./source-requests.ts";

/** RFC 8216bis 4.4.4.4. Others are not named: nothing of what a source answers is shown. */
const REFUSED_METHODS = ["SAMPLE-AES", "SAMPLE-AES-CTR"];
/** A list of a day in segments of two seconds has half of it. */
const MAX_PLAYLIST_BYTES = 4 * 1024 * 1024;
const MAX_INIT_BYTES = 1024 * 1024;
/** Behind the newest segment, as a player begins (RFC 8216 6.3.3). */
const TARGETS_BEHIND = 3;
/** A list that has not grown for so many target durations is dead; and longer than any server needs to start again. */
const STALE_TARGETS = 6;
const MIN_STALE_MS = 30_000;
/** However short its segments are said to be, a server is not asked more often. */
const MIN_POLL_MS = 500;
/** Lists name segments before caches have them. */
const MAX_MISSES = 4;

export interface HlsSettings extends Pick<SourceOpening, "clock" | "signal" | "memory" | "ahead"> {
  readonly requests: SourceRequests;
}

/** `seconds`: a segment of so many has ended. */
export type HlsPiece = HttpPiece | { readonly type: "segment"; readonly seconds: number };

/**
 * The media of one playlist of segments: from its beginning where it has ended, else from three target durations before its end. Segments are
 * followed by their numbers; their names may be used again.
 */
export class HlsList {
  readonly #settings: HlsSettings;
  readonly #url: string;
  readonly #of: PieceOf;
  #key: { readonly url: string; readonly bytes: Buffer } | null = null;
  #map: string | null = null;

  constructor(url: string, of: PieceOf, settings: HlsSettings) {
    this.#url = url;
    this.#of = of;
    this.#settings = settings;
  }

  /** `known`: the list, where it was read already. */
  async *media(known: SourceMedia | null): AsyncGenerator<HlsPiece, void> {
    const { clock, signal } = this.#settings;
    using mp4 = new Mp4Pieces(this.#of, this.#settings);
    let list = known ?? (await this.#read());
    if (!list) throw new SourceProblem("The source's playlist leads to one that is not there.");
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
        if (!segment) continue;
        if (!segment.isGap) yield* this.#segment(segment, next, list.targetDuration, mp4);
        yield { type: "segment", seconds: segment.duration };
      }
      if (list.isEnded) return;
      const staleMs = Math.max(MIN_STALE_MS, list.targetDuration * STALE_TARGETS * 1000);
      if (clock.monotonic() - grewAt > staleMs) throw new SourceProblem("The source's playlist no longer grows.");
      await wait(clock, pollMs(list.targetDuration), signal);
      list = (await this.#read()) ?? list;
    }
  }

  async #read(): Promise<SourceMedia | null> {
    const found = await this.#settings.requests.whole(this.#url, MAX_PLAYLIST_BYTES);
    const list = found && readPlaylist(found.bytes.toString("utf8"));
    if (list?.kind === "multivariant")
      throw new SourceProblem(
        "The source's playlist leads to no playlist of segments, or has become one of another kind.",
      );
    return list;
  }

  async *#segment(
    segment: SourceSegment,
    number: number,
    targetDuration: number,
    mp4: Mp4Pieces,
  ): AsyncGenerator<HttpPiece, void> {
    const { requests, clock, signal } = this.#settings;
    const { uri, range, map, key } = segment;
    if (map && key)
      throw new SourceProblem(
        "The source has encrypted segments in MP4, which Weir does not pull. Use none that are encrypted.",
      );
    if (map) yield* await this.#init(map, mp4);
    const url = childOf(uri, this.#url);
    for (let misses = 0; misses < MAX_MISSES; misses++) {
      const body = await requests.open(url, range);
      if (!body) {
        await wait(clock, pollMs(targetDuration), signal);
        continue;
      }
      const chunks = key ? decrypted(body.chunks, await this.#cipher(key, number)) : body.chunks;
      let at: number | null = range?.offset ?? 0;
      for await (const bytes of chunks) {
        if (map) yield* mp4.take(bytes, at);
        else yield { type: "ts", of: this.#of, bytes };
        at = null;
      }
      return;
    }
  }

  /** Its tracks, where it is another one than before. */
  async #init({ uri, range }: SourceMap, mp4: Mp4Pieces): Promise<readonly HttpPiece[]> {
    const url = childOf(uri, this.#url);
    const name = `${url} ${range?.offset} ${range?.length}`;
    if (this.#map === name) return [];
    const found = await this.#settings.requests.whole(url, MAX_INIT_BYTES, range);
    if (!found) throw new SourceProblem("The source's init segment is not there.");
    this.#map = name;
    return mp4.take(found.bytes, range?.offset ?? 0);
  }

  async #cipher({ method, uri, iv }: SourceKey, number: number) {
    if (method !== "AES-128") {
      const name = REFUSED_METHODS.find((known) => known === method) ?? "an unknown method";
      throw new SourceProblem(`The source is encrypted with ${name}, which Weir does not read. Use AES-128 or none.`);
    }
    const url = childOf(uri, this.#url);
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

const pollMs = (targetDuration: number): number => Math.max(MIN_POLL_MS, targetDuration * 500);

/** The number of the first segment to play of a list that grows. */
function firstOf({ segments, mediaSequence, targetDuration }: SourceMedia): number {
  let behind = 0;
  let at = segments.length;
  while (at > 0 && behind < TARGETS_BEHIND * targetDuration) behind += segments[--at]?.duration ?? 0;
  return mediaSequence + at;
}
