import { MESSAGE } from "@weir/formats/rtmp";
import {
  aacConfig,
  aacFrame,
  avcConfig,
  avcFrame,
  avcKeyframe,
} from "../../src/media/ingest/rtmp/rtmp-media.fixture.ts";
import { RtmpTestClient } from "../../src/media/ingest/rtmp/rtmp-test-client.ts";
import type { Clock } from "../../src/platform/clock.ts";

const FRAME_MS = 40;
/** 1,024 samples at 44,100 Hz. */
const SOUND_MS = (1_024 / 44_100) * 1_000;
const GOP_FRAMES = 50;

/** A synthetic encoder on the manual clock: 25 pictures per second, a keyframe every 2 s. */
export class LoopbackPublisher {
  /** While paused it sends nothing; overdue packets are sent immediately afterwards. */
  isFrozen = false;
  readonly #client: RtmpTestClient;
  readonly #clock: Clock;
  readonly #startedAt: number;
  #frames = 0;
  #sounds = 0;

  private constructor(client: RtmpTestClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  /** Rejects with the server's reason for a refusal. */
  static async open(port: number, streamKey: string, clock: Clock): Promise<LoopbackPublisher> {
    const { client, status } = await RtmpTestClient.publish(port, streamKey);
    if (status.level !== "status") throw new Error(status.description);
    const publisher = new LoopbackPublisher(client, clock);
    client.message(MESSAGE.video, avcConfig());
    client.message(MESSAGE.audio, aacConfig());
    publisher.sendWhatIsDue();
    return publisher;
  }

  sendWhatIsDue(): void {
    const { socket } = this.#client;
    if (this.isFrozen || socket.destroyed) return;
    const now = this.#clock.monotonic() - this.#startedAt;
    for (let at = this.#frames * FRAME_MS; at <= now; at += FRAME_MS) {
      const frame = this.#frames % GOP_FRAMES === 0 ? avcKeyframe() : avcFrame();
      this.#client.message(MESSAGE.video, frame, at);
      for (; this.#sounds * SOUND_MS <= at; this.#sounds++)
        this.#client.message(MESSAGE.audio, aacFrame(), Math.round(this.#sounds * SOUND_MS));
      this.#frames++;
    }
  }

  /** Drops the connection without a stop. */
  drop(): void {
    this.#client.socket.destroy();
  }

  [Symbol.dispose](): void {
    this.drop();
  }
}
