import { readAudioTag, readVideoTag } from "@weir/formats/flv";
import { MESSAGE } from "@weir/formats/rtmp";
import { TsMuxer } from "@weir/formats/ts";
import { type SrtLink, SrtProcess } from "../../apps/server/src/media/srt/index.ts";
import { systemClock } from "../../apps/server/src/platform/clock.ts";
import { silentLog } from "../../apps/server/src/platform/log.ts";
import type { Clip } from "../../apps/server/src/roles/capacity/clip.ts";

const TICKS_PER_MS = 90;
const LATENCY_MS = 120;

interface SrtSender {
  readonly isOpen: boolean;
  stop(): Promise<void>;
}

/** Publishers over SRT without an encoder: all send the same transport stream, each message when due, from one process of libsrt. */
export class SrtSenders {
  readonly #srt = new SrtProcess({ clock: systemClock, log: silentLog });
  readonly #links = new Set<SrtLink>();
  readonly #clip: Clip;
  readonly #muxer = new TsMuxer();
  readonly #startedAt = performance.now();
  #timer: NodeJS.Timeout;
  #next = 0;
  #round = 0;

  constructor(clip: Clip) {
    this.#clip = clip;
    const setup = clip.messages.filter(({ isSetup }) => isSetup);
    const configOf = (type: number, skip: number) =>
      setup.find(({ typeId }) => typeId === type)?.payload.subarray(skip);
    const [avc, aac] = [configOf(MESSAGE.video, 5), configOf(MESSAGE.audio, 2)];
    if (!avc || !aac) throw new Error("the clip has no configuration");
    this.#muxer.begin({ video: { codec: "avc", config: avc }, audio: { config: aac } });
    this.#timer = setInterval(() => this.#send(), 10);
  }

  /** `url` is `srt://host:port?streamid=key`. Resolves when the server has accepted the connection. */
  async start(url: string): Promise<SrtSender> {
    const { hostname: address, port, searchParams } = new URL(url);
    const streamId = searchParams.get("streamid") ?? "";
    const connected = Promise.withResolvers<void>();
    let isOpen = true;
    const link = this.#srt.connect(
      { address, port: Number(port), streamId, passphrase: null, keyBytes: 0, latencyMs: LATENCY_MS, peer: "target" },
      {
        connected: connected.resolve,
        taken: () => {},
        failed: ({ reason }) => {
          isOpen = false;
          this.#links.delete(link);
          connected.reject(new Error(reason));
        },
      },
    );
    await connected.promise;
    this.#links.add(link);
    return {
      get isOpen() {
        return isOpen;
      },
      stop: async () => {
        this.#links.delete(link);
        link.close(true);
      },
    };
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#srt.close();
  }

  #send(): void {
    const parts: Uint8Array[] = [];
    const now = performance.now() - this.#startedAt;
    for (;;) {
      const message = this.#clip.messages[this.#next];
      if (!message) {
        this.#next = 0;
        this.#round++;
        continue;
      }
      const timeMs = message.timeMs + this.#round * this.#clip.durationMs;
      if (timeMs > now) break;
      this.#next++;
      if (!message.isSetup) this.#mux(message.typeId, timeMs, message.payload, parts);
    }
    if (parts.length === 0) return;
    const bytes = Buffer.concat(parts);
    for (const link of this.#links) link.send(bytes);
  }

  #mux(typeId: number, timeMs: number, payload: Uint8Array, parts: Uint8Array[]): void {
    const allocate = (bytes: number): Uint8Array => {
      const part = new Uint8Array(bytes);
      parts.push(part);
      return part;
    };
    const decodeTicks = timeMs * TICKS_PER_MS;
    if (typeId === MESSAGE.video) {
      const { dataOffset, dataEnd, compositionTime, isKeyframe } = readVideoTag(payload);
      const presentationTicks = decodeTicks + compositionTime * TICKS_PER_MS;
      const data = payload.subarray(dataOffset, dataEnd);
      this.#muxer.write({ kind: "video", decodeTicks, presentationTicks, isIndependent: isKeyframe, data }, allocate);
    } else if (typeId === MESSAGE.audio) {
      const data = payload.subarray(readAudioTag(payload).dataOffset);
      const times = { decodeTicks, presentationTicks: decodeTicks };
      this.#muxer.write({ kind: "audio", ...times, isIndependent: true, data }, allocate);
    }
  }
}
