import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { UntilStopped } from "./until-stopped.ts";
import type { World } from "./world.ts";

const EVERY_MS = 3_000;
const [START, END] = ["ffd8", "ffd9"];
/** What may be answered in place of a picture: there is none, or the server cannot say so now. */
const HONEST = new Set([404, 500, 502, 503, 504]);

/** Looks at the thumbnail of a live stream, and that each is a whole picture. */
export class Onlooker implements AsyncDisposable {
  pictures = 0;
  readonly problems: string[] = [];
  readonly #work: UntilStopped;

  constructor({ weir }: World, { playbackId }: Stream) {
    const url = `${weir.url}/hls/${playbackId}/source/latest.jpg`;
    this.#work = new UntilStopped(async (signal) => {
      while (!signal.aborted) {
        await this.#look(url).catch(() => {});
        await sleep(EVERY_MS, undefined, { signal }).catch(() => {});
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work.stop();
  }

  async #look(url: string): Promise<void> {
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (!answer.ok) {
      if (!HONEST.has(answer.status)) this.problems.push(`a thumbnail is answered ${answer.status}`);
      return;
    }
    const isWhole = bytes.toString("hex", 0, 2) === START && bytes.toString("hex", bytes.length - 2) === END;
    if (isWhole) this.pictures++;
    else this.problems.push(`a thumbnail of ${bytes.length} bytes is no picture`);
  }
}
