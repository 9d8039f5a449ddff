import { Agent } from "node:http";
import { fetchBytes, fragmentStartMs, newestPart, videoPlaylistUrl } from "./hls-reader.ts";

const RETRY_MS = 200;
const ALMOST_ALL = 0.9;

/** Follows one rendition of a live stream, and says how late its parts come compared with how they came at first. */
export class PartProbe {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;
  #ages: number[] = [];
  #baseMs = Number.NaN;
  #isStopped = false;
  readonly #following: Promise<void>;

  private constructor(url: string) {
    this.#url = url;
    this.#following = this.#follow();
  }

  /** `rendition` is `source`, or a rung of the ladder such as `v0`. Throws if the stream has no video within 15 s. */
  static async start(hlsUrl: string, rendition = "source"): Promise<PartProbe> {
    const source = await videoPlaylistUrl(hlsUrl);
    return new PartProbe(source.replace("/source/", `/${rendition}/`));
  }

  /** From now on parts are compared with those since the last call of this or of `lateness`. */
  settle(): void {
    this.#baseMs = quantile(this.#ages, ALMOST_ALL);
    this.#ages = [];
  }

  /** How late parts came since the last call, in ms: the value that one in ten exceeds. Infinite if none came. */
  lateness(): number {
    const late = quantile(this.#ages, ALMOST_ALL) - this.#baseMs;
    this.#ages = [];
    return Number.isNaN(late) ? Number.POSITIVE_INFINITY : late;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#agent.destroy();
    await this.#following;
  }

  async #follow(): Promise<void> {
    let last = { msn: 0, nextPart: 0 };
    while (!this.#isStopped) {
      try {
        const query = last.msn === 0 ? "" : `?_HLS_msn=${last.msn}&_HLS_part=${last.nextPart}`;
        const { body } = await fetchBytes(this.#url + query, this.#agent);
        const next = newestPart(body.toString());
        const part = await fetchBytes(new URL(next.uri, this.#url).href, this.#agent);
        // The publisher's start is in every age, and is gone in the comparison.
        if (last.msn !== 0) this.#ages.push(part.at - fragmentStartMs(part.body));
        last = next;
      } catch {
        // A server too busy to answer is what is looked for.
        last = { msn: 0, nextPart: 0 };
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
