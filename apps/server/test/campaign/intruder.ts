import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const EVERY_MS = 100;

/** Somebody without a token, who asks for a gated stream again and again. */
export class Intruder implements AsyncDisposable {
  /** Answers with media, or with a list of it. */
  readonly served: string[] = [];
  requests = 0;
  readonly #work: UntilStopped;

  constructor(world: World, { playbackId }: Stream) {
    const base = world.weir.hlsUrl(playbackId).replace("index.m3u8", "");
    const places = ["index.m3u8", "index.m3u8?dvr=1", "index.m3u8?jwt=a.b.c", "index.m3u8?accessKey=stolen"];
    this.#work = new UntilStopped(async (signal) => {
      for (let n = 0; !signal.aborted; n++) {
        const url = base + places[n % places.length];
        const text = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
          (answer) => (answer.ok ? answer.text() : ""),
          () => "",
        );
        this.requests++;
        if (text.includes("#EXT-X-STREAM-INF")) this.served.push(`${url}: ${text.slice(0, 200)}`);
        await sleep(EVERY_MS);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }
}
