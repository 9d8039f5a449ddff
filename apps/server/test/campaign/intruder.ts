import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const EVERY_MS = 60;
const OFFER = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n";

/** Somebody without a token, who asks for a gated stream again and again, in every protocol. */
export class Intruder implements AsyncDisposable {
  /** Answers with media, or with a list of it. */
  readonly served: string[] = [];
  requests = 0;
  readonly #work: UntilStopped;

  constructor({ weir }: World, { id, playbackId }: Stream) {
    const base = weir.hlsUrl(playbackId).replace("index.m3u8", "");
    const places = [
      "index.m3u8",
      "index.m3u8?dvr=1",
      "index.m3u8?jwt=a.b.c",
      "index.m3u8?accessKey=stolen",
      "source/latest.jpg",
      "thumbnails/thumbnails.vtt",
      `s/-/${id}/source/index.m3u8`,
    ];
    this.#work = new UntilStopped(async (signal) => {
      for (let n = 0; !signal.aborted; n++) {
        const place = places[n % (places.length + 1)];
        await (place === undefined ? this.#call(weir.webrtcUrl(playbackId)) : this.#read(base + place)).catch(() => {});
        this.requests++;
        await sleep(EVERY_MS);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }

  async #read(url: string): Promise<void> {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    const text = await answer.text();
    if (answer.ok) this.served.push(`${url} was answered ${answer.status}: ${text.slice(0, 200)}`);
  }

  /** A viewer who may watch is told what is wrong with this offer; nobody else is. */
  async #call(url: string): Promise<void> {
    const headers = { "content-type": "application/sdp" };
    const answer = await fetch(url, { method: "POST", headers, body: OFFER, signal: AbortSignal.timeout(5_000) });
    await answer.arrayBuffer();
    if (answer.ok) this.served.push(`${url} was answered ${answer.status}`);
  }
}
