import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { ask } from "../support/attacker.ts";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const EVERY_MS = 60;
const OFFER = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n";

/** Somebody without a token, at an address of its own, who asks for a gated stream again and again, in every protocol. */
export class Intruder implements AsyncDisposable {
  /** Answers with media, or with a list of it. */
  readonly served: string[] = [];
  requests = 0;
  readonly #port: number;
  readonly #work: UntilStopped;

  constructor({ weir }: World, { id, playbackId }: Stream) {
    this.#port = weir.httpPort;
    const base = new URL(weir.hlsUrl(playbackId)).pathname.replace("index.m3u8", "");
    const call = new URL(weir.webrtcUrl(playbackId)).pathname;
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
        await (place === undefined ? this.#call(call) : this.#read(base + place)).catch(() => {});
        this.requests++;
        await sleep(EVERY_MS);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }

  async #read(path: string): Promise<void> {
    const { status, body } = await ask(this.#port, path);
    if (status < 300) this.served.push(`${path} was answered ${status}: ${body.slice(0, 200)}`);
  }

  /** A viewer who may watch is told what is wrong with this offer; nobody else is. */
  async #call(path: string): Promise<void> {
    const headers = { "content-type": "application/sdp" };
    const { status } = await ask(this.#port, path, { method: "POST", headers, body: OFFER });
    if (status < 300) this.served.push(`${path} was answered ${status}`);
  }
}
