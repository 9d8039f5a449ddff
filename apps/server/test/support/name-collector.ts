import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { listedRenditions } from "./live-renditions.ts";

/** Where viewers find a stream. */
export interface Place {
  readonly node: string;
  readonly hlsUrl: string;
}

/** A media playlist as one node gave it. */
export interface SeenList {
  readonly node: string;
  readonly session: string;
  readonly rendition: string;
  readonly at: number;
  readonly firstMsn: number;
  readonly lastMsn: number;
  readonly hasEnded: boolean;
}

const LOOK_MS = 400;

/** Collects every list and the hash of every file that the nodes show of a stream, until it is stopped. */
export class NameCollector {
  readonly lists: SeenList[] = [];
  /** Node and hash, by session, rendition and file. */
  readonly #hashes = new Map<string, Map<string, string>>();
  readonly #places: readonly Place[];
  readonly #known = new Set<string>();
  readonly #runs: Promise<void>[];
  #isStopped = false;

  constructor(places: readonly Place[]) {
    this.#places = places;
    this.#runs = this.#places.map((place) => this.#watch(place));
  }

  /** Names that two contents were seen under, with where. */
  get clashes(): string[] {
    return [...this.#hashes]
      .filter(([, hashes]) => new Set(hashes.values()).size > 1)
      .map(
        ([name, hashes]) => `${name}: ${[...hashes].map(([node, hash]) => `${node} ${hash.slice(0, 8)}`).join(", ")}`,
      );
  }

  get names(): number {
    return this.#hashes.size;
  }

  /** How many complete segments of a session's rendition were seen. */
  segmentsOf(session: string, rendition: string): number {
    const place = `${session}/${rendition}/`;
    return [...this.#hashes.keys()].filter((name) => name.startsWith(place) && /\/\d+\.m4s$/.test(name)).length;
  }

  /** Lists of a node whose numbers were lower than before, in the same session. */
  fallsAt(node: string): string[] {
    const newest = new Map<string, SeenList>();
    return this.lists.flatMap((list) => {
      if (list.node !== node) return [];
      const place = `${list.session}/${list.rendition}`;
      const before = newest.get(place);
      if (!before || list.lastMsn >= before.lastMsn) {
        newest.set(place, list);
        return [];
      }
      const when = `at ${new Date(list.at).toISOString()}, ${list.at - before.at} ms after it`;
      return [`${node}: ${list.rendition} fell from ${before.lastMsn} to ${list.lastMsn} ${when}`];
    });
  }

  /** The longest time that the numbers of a rendition stood still at a node, in milliseconds, between two moments. */
  longestStallMs(node: string, rendition: string, from: number, until: number): number {
    const seen = this.lists.filter((list) => list.node === node && list.rendition === rendition && list.at >= from);
    let [newest, since, longest] = [0, from, 0];
    for (const { lastMsn, at } of seen) {
      if (at > until) break;
      if (lastMsn > newest) {
        longest = Math.max(longest, at - since);
        [newest, since] = [lastMsn, at];
      }
    }
    return Math.max(longest, until - since);
  }

  /** Gets every file once more that is still listed: after a fault it must have the content that it had before. */
  lookAgain(): void {
    this.#known.clear();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#runs);
  }

  async #watch(place: Place): Promise<void> {
    while (!this.#isStopped) {
      await this.#look(place).catch(() => {});
      await sleep(LOOK_MS);
    }
  }

  async #look({ node, hlsUrl }: Place): Promise<void> {
    for (const { name, url } of await listedRenditions(hlsUrl)) {
      // Another session may use the same names again.
      const session = sessionIn(url);
      const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
      if (!response.ok) continue;
      const text = await response.text();
      const files = Array.from(
        text.matchAll(/^(?!#)(\S+)$|URI="([^"]+\.(?:m4s|mp4))"/gm),
        ([, line, uri]) => line ?? uri ?? "",
      );
      const complete = files.flatMap(
        (file) => /(\d+)\.m4s$/.exec(/^(\d+)\.m4s$/.test(baseOf(file)) ? file : "")?.[1] ?? [],
      );
      this.lists.push({
        ...{ node, session, rendition: name, at: Date.now() },
        firstMsn: Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(text)?.[1] ?? 0),
        lastMsn: Math.max(0, ...complete.map(Number)),
        hasEnded: text.includes("#EXT-X-ENDLIST"),
      });
      // What is hinted at is not there yet.
      const hinted = /TYPE=PART,URI="([^"]+)"/.exec(text)?.[1];
      for (const file of files) {
        if (file !== hinted) await this.#keep(node, session, name, new URL(file, url).href);
      }
    }
  }

  async #keep(node: string, session: string, rendition: string, url: string): Promise<void> {
    const file = baseOf(url);
    const place = `${session}/${rendition}/${file}`;
    if (this.#known.has(`${node} ${place}`)) return;
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    const bytes = await response.arrayBuffer();
    if (!response.ok) return;
    this.#known.add(`${node} ${place}`);
    const hashes = this.#hashes.get(place) ?? new Map<string, string>();
    const hash = createHash("sha256").update(new Uint8Array(bytes)).digest("hex");
    // A node that shows two contents by itself clashes as well.
    hashes.set((hashes.get(node) ?? hash) === hash ? node : `${node} again`, hash);
    this.#hashes.set(place, hashes);
  }
}

const baseOf = (url: string): string => url.split("?")[0]?.split("/").at(-1) ?? "";

/** `…/s/{token}/{session}/{rendition}/index.m3u8` */
const sessionIn = (url: string): string => new URL(url).pathname.split("/").at(-3) ?? "";
