import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Stream } from "@weir/contract";
import { type Clip, makeClip } from "../../src/roles/capacity/clip.ts";
import { RtmpSender } from "../../src/roles/capacity/rtmp-sender.ts";
import type { World } from "./world.ts";

/** Of a session: its picture and the beginning of a segment. */
const SESSION_MS = 700;
const LANES = 16;
const RECORDED_LANES = 2;
const CONNECTIONS = 16;
const TRY_AGAIN_MS = 200;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly ms: number;
}

/** Counts in place of days: broadcasts that last a moment, viewers who look once, and writes. */
export class SoakLoad {
  sessions = 0;
  viewers = 0;
  writes = 0;
  /** Answers that were not as they should be; the first few. */
  readonly problems: string[] = [];
  /** Of lists and of the API since they were taken last, in milliseconds. */
  #listMs: number[] = [];
  #apiMs: number[] = [];
  readonly #world: World;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  readonly #clip: Clip;
  readonly #lanes: readonly Stream[];

  private constructor(world: World, clip: Clip, lanes: readonly Stream[]) {
    this.#world = world;
    this.#clip = clip;
    this.#lanes = lanes;
  }

  static async open(world: World): Promise<SoakLoad> {
    const { streams } = world.weir.client;
    const lanes = Array.from({ length: LANES }, (_, n) =>
      streams.create({ name: `lane ${n}`, profiles: [], record: n < RECORDED_LANES }),
    );
    return new SoakLoad(world, await makeClip(), await Promise.all(lanes));
  }

  get lanes(): readonly Stream[] {
    return this.#lanes;
  }

  /** The latencies that half and all but a twentieth of the requests had since the last call, in milliseconds. */
  takeLatencies(): Readonly<Record<"list50" | "list95" | "api50" | "api95", number>> {
    const [lists, api] = [this.#listMs, this.#apiMs].map((all) => all.toSorted((a, b) => a - b)) as [
      number[],
      number[],
    ];
    [this.#listMs, this.#apiMs] = [[], []];
    const at = (all: readonly number[], share: number) => Math.round(all[Math.floor(all.length * share)] ?? 0);
    return { list50: at(lists, 0.5), list95: at(lists, 0.95), api50: at(api, 0.5), api95: at(api, 0.95) };
  }

  /** So many broadcasts, each a session of its own. */
  async broadcast(count: number): Promise<void> {
    let left = count;
    const lane = async ({ streamKey = "" }: Stream) => {
      while (left-- > 0) {
        const sender = await RtmpSender.start(this.#world.weir.publishUrl(streamKey), this.#clip).catch(() => null);
        if (!sender) {
          left++;
          await sleep(TRY_AGAIN_MS);
          continue;
        }
        await sleep(SESSION_MS);
        await sender.stop();
        this.sessions++;
      }
    };
    await Promise.all(this.#lanes.map(lane));
  }

  /** So many viewers of a running stream, each from an address of its own, who read both lists. */
  async watch(hlsUrl: string, count: number): Promise<void> {
    let left = count;
    const viewer = async () => {
      while (left-- > 0) {
        const nth = this.viewers++;
        const from = `10.${(nth >> 16) & 255}.${(nth >> 8) & 255}.${nth & 255}`;
        const list = await this.#read(hlsUrl, from);
        const child = /^s\/.*m3u8$/m.exec(list.body)?.[0];
        const media = child ? await this.#read(new URL(child, hlsUrl).href, from) : null;
        if (list.status === 200 && media?.status === 200) this.#listMs.push(list.ms, media.ms);
        else this.#note(`a viewer was answered ${list.status} and ${media?.status}: ${list.body.slice(0, 100)}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, viewer));
  }

  /** So many writes of the API, each of which is an event. */
  async write(id: string, count: number): Promise<void> {
    const { assets } = this.#world.weir.client;
    for (let n = 0; n < count; n++) {
      const startedAt = performance.now();
      await assets.patch(id, { name: `soak ${this.writes++}` }).then(
        () => this.#apiMs.push(performance.now() - startedAt),
        (error: Error) => this.#note(error.message),
      );
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #read(url: string, from: string): Promise<Answer> {
    const startedAt = performance.now();
    return new Promise((resolve, reject) => {
      const headers = { "x-forwarded-for": from };
      const asked = get(url, { agent: this.#agent, headers }, async (answer) => {
        let body = "";
        for await (const bytes of answer.setEncoding("utf8")) body += bytes;
        resolve({ status: answer.statusCode ?? 0, body, ms: performance.now() - startedAt });
      });
      asked.once("error", reject);
    });
  }

  #note(problem: string): void {
    if (this.problems.length < 10) this.problems.push(problem);
  }
}
