import { Agent, get } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { newestPart } from "../../apps/server/src/roles/capacity/hls-reader.ts";

const STAGGER_MS = 10;
const SEGMENT_MS = 2_000;
const ANSWER_WITHIN_MS = 15_000;

export interface Rewind {
  /** Address of the video's list that goes back. */
  readonly listUrl: string;
  /** Viewers begin anywhere before this segment. */
  readonly lastMsn: number;
}

/**
 * Viewers of one session, each at a moment of their own, as low-latency players behave: a delta update for each new part of the live edge, and every two
 * seconds the segment that they play, over a connection each.
 */
export class RewindViewers {
  requests = 0;
  readonly #watching: Promise<void>[] = [];
  readonly #ended = new AbortController();

  static async start(rewind: Rewind, count: number): Promise<RewindViewers> {
    const viewers = new RewindViewers();
    for (let viewer = 0; viewer < count; viewer++) {
      const listUrl = `${rewind.listUrl}?tkn=bench-${viewer}`;
      const first = 1 + Math.floor(((viewer + Math.random()) / count) * (rewind.lastMsn - 1_000));
      // Each from an address of its own: what one client may hold of old segments has a bound.
      const localAddress = `127.1.${viewer >> 8}.${viewer & 255}`;
      for (const watching of [viewers.#reload(listUrl, localAddress), viewers.#play(listUrl, first, localAddress)]) {
        // Told by `stop`.
        watching.catch(() => {});
        viewers.#watching.push(watching);
      }
      await wait(STAGGER_MS);
    }
    return viewers;
  }

  /** Throws if one of them failed meanwhile. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await Promise.all(this.#watching);
  }

  async #reload(listUrl: string, localAddress: string): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress });
    try {
      let next = newestPart((await this.#get(listUrl, agent)).toString());
      while (!this.#ended.signal.aborted) {
        const directives = `_HLS_msn=${next.msn}&_HLS_part=${next.nextPart}&_HLS_skip=YES`;
        next = newestPart((await this.#get(`${listUrl}&${directives}`, agent)).toString());
      }
    } finally {
      agent.destroy();
    }
  }

  async #play(listUrl: string, first: number, localAddress: string): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress });
    const startedAt = performance.now();
    try {
      for (let msn = first; !this.#ended.signal.aborted; msn++) {
        await this.#get(new URL(`d${msn}.m4s`, listUrl).href, agent);
        const dueAt = startedAt + (msn - first + 1) * SEGMENT_MS;
        await wait(Math.max(0, dueAt - performance.now()), null, { signal: this.#ended.signal }).catch(() => {});
      }
    } finally {
      agent.destroy();
    }
  }

  async #get(url: string, agent: Agent): Promise<Buffer> {
    const { body } = await fetchCompressed(url, agent);
    this.requests++;
    return body;
  }
}

/** As a browser asks: `sentBytes` are those of the answer, compressed or not. */
export function fetchCompressed(
  url: string,
  agent?: Agent,
): Promise<{ readonly body: Buffer; readonly sentBytes: number }> {
  return new Promise((resolve, reject) => {
    const headers = { "accept-encoding": "gzip" };
    const request = get(url, { ...(agent && { agent }), timeout: ANSWER_WITHIN_MS, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        if (response.statusCode !== 200) return reject(new Error(`${url} responded with ${response.statusCode}`));
        const sent = Buffer.concat(chunks);
        const isCoded = response.headers["content-encoding"] === "gzip";
        resolve({ body: isCoded ? gunzipSync(sent) : sent, sentBytes: sent.byteLength });
      });
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${ANSWER_WITHIN_MS} ms: ${url}`)));
    request.on("error", reject);
  });
}
