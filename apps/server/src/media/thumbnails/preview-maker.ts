import { frameOf, type PreviewStart, type ToChild } from "../transcode/index.ts";
import type { StillMakerSettings } from "./still-maker.ts";

/** Ten seconds of the largest source take a few seconds. */
const MAX_MS = 30_000;

export type PreviewPacket = Extract<ToChild, { type: "packet" }>;

/** Makes animated previews, each in its own child, which is killed after it responds or times out. */
export class PreviewMaker {
  readonly #settings: StillMakerSettings;
  /** Aborts the previews being made. */
  readonly #running = new Set<(reason: string) => void>();

  constructor(settings: StillMakerSettings) {
    this.#settings = settings;
  }

  /** Null if nothing can be decoded or the child crashes. Rejects if reading `packets` fails. */
  async make(start: PreviewStart, packets: AsyncIterable<PreviewPacket>): Promise<Uint8Array | null> {
    const { clock, log, children } = this.#settings;
    const { promise: made, resolve } = Promise.withResolvers<Uint8Array | null>();
    const giveUp = (reason: string): void => {
      log.warn({ reason }, "could not make a preview of a video");
      resolve(null);
    };
    const child = children.start({
      message: (message) => {
        if (message.type === "still") resolve(message.data.byteLength > 0 ? message.data : null);
        if (message.type === "error") giveUp(message.message);
      },
      exited: giveUp,
    });
    const deadline = clock.after(MAX_MS, () => giveUp(`it took more than ${MAX_MS / 1000} s`));
    this.#running.add(giveUp);
    const send = async (): Promise<Uint8Array | null> => {
      child.send(frameOf({ type: "start-preview", start }));
      for await (const packet of packets) child.send(frameOf(packet));
      child.send(frameOf({ type: "flush", id: 0 }));
      return made;
    };
    try {
      return await Promise.race([send(), made]);
    } finally {
      this.#running.delete(giveUp);
      deadline.cancel();
      child.kill();
    }
  }

  close(): void {
    for (const giveUp of this.#running) giveUp("the server is closing");
  }
}
