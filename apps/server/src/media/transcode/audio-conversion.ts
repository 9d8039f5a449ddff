import type { Log } from "../../platform/log.ts";
import { SupervisedChild, type SupervisedChildSettings } from "./supervised-child.ts";
import type { AudioStart, FromChild } from "./transcode-protocol.ts";

/** About 20 s of audio: a child that is so far behind gets nothing more until it has caught up. */
const MAX_BACKLOG_BYTES = 512 * 1024;
const RESTART_MS = [100, 1000, 5000];
const STEADY_MS = 5_000;

/** The AudioSpecificConfig of the AAC that a child makes in stereo: LC, 48 kHz, no SBR (ISO/IEC 14496-3 1.6.2.1). */
export const CONVERTED_AAC = Uint8Array.of(0x11, 0x90, 0x56, 0xe5, 0x00);

export interface AudioConversionSettings extends AudioStart, Pick<SupervisedChildSettings, "clock" | "children"> {
  readonly log: Log;
  /** In 90 kHz ticks of the source's clock. */
  readonly onPacket: (pts: number, data: Uint8Array) => void;
}

/** Has one audio track converted by a child. */
export class AudioConversion {
  readonly #settings: AudioConversionSettings;
  readonly #child: SupervisedChild;

  constructor(settings: AudioConversionSettings) {
    this.#settings = settings;
    const { clock, log, children } = settings;
    this.#child = new SupervisedChild({
      ...{ clock, children, restartMs: RESTART_MS, steadyMs: STEADY_MS },
      message: (message) => this.#receive(message),
      died: (reason, isLast) => isLast && log.warn({ reason }, "audio is no longer converted: its child failed"),
      restart: () => this.#start(),
    });
    this.#start();
  }

  push(pts: number, data: Uint8Array): void {
    const child = this.#child;
    if (child.mediaArrived() && child.backlogBytes < MAX_BACKLOG_BYTES) child.give({ type: "audio", pts, data });
  }

  close(): void {
    this.#child.drop();
  }

  #start(): void {
    const { source, target } = this.#settings;
    this.#child.start();
    this.#child.send({ type: "start-audio", start: { source, target } });
  }

  #receive(message: FromChild): void {
    const { log, onPacket } = this.#settings;
    if (message.type === "audio") {
      this.#child.succeeded();
      onPacket(message.pts, message.data);
    } else if (message.type === "error" && message.isFatal)
      log.warn({ reason: message.message }, "audio could not be converted");
  }
}
