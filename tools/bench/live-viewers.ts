import { Agent } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { fetchBytes, newestPart, videoPlaylistUrl } from "../../apps/server/src/roles/capacity/hls-reader.ts";

/** Between the starts of two viewers, so that they do not all begin in the same part. */
const STAGGER_MS = 10;

/** Low-latency viewers of one live stream's video, as players behave: a blocking playlist request, then the part that it lists, over one connection each. */
export class LiveViewers {
  requests = 0;
  readonly #watching: Promise<void>[] = [];
  readonly #ended = new AbortController();

  static async start(hlsUrl: string, count: number): Promise<LiveViewers> {
    const viewers = new LiveViewers();
    for (let viewer = 0; viewer < count; viewer++) {
      const watching = viewers.#watch(`${hlsUrl}?tkn=bench-${viewer}`);
      // Told by `stop`.
      watching.catch(() => {});
      viewers.#watching.push(watching);
      await wait(STAGGER_MS);
    }
    return viewers;
  }

  /** Throws if one of them failed meanwhile. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#watching);
  }

  async #watch(hlsUrl: string): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const get = async (url: string) => {
      const answer = await fetchBytes(url, agent);
      if (answer.status !== 200) throw new Error(`${url} responded with ${answer.status}`);
      this.requests++;
      return answer.body;
    };
    try {
      const url = await videoPlaylistUrl(hlsUrl);
      let next = newestPart((await get(url)).toString());
      while (!this.#ended.signal.aborted) {
        const directives = `_HLS_msn=${next.msn}&_HLS_part=${next.nextPart}`;
        next = newestPart((await get(`${url}&${directives}`)).toString());
        await get(new URL(next.uri, url).href);
      }
    } finally {
      agent.destroy();
    }
  }
}
