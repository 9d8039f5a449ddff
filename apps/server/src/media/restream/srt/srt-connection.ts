import type { Clock, Timer } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { FORWARD, type Outbound } from "../../../platform/outbound/outbound.ts";
import { failureOfConnection } from "../refused-connection.ts";
import type { TargetConnection, TargetConnectionHandler, TargetFailure } from "../target-connection.ts";
import { type SrtAddress, srtAddressOf } from "./srt-address.ts";
import type { SrtLink, SrtProcess } from "./srt-process.ts";
import { TsFormat } from "./ts-format.ts";

/** From name resolution until the target responds. The library's own timeout is shorter. */
const CONNECT_MS = 15_000;

export interface SrtConnectionSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly outbound: Pick<Outbound, "refusalOf" | "find">;
  readonly srt: Pick<SrtProcess, "connect">;
  readonly url: string;
  readonly handler: TargetConnectionHandler;
  /** Called once, when the connection has ended for any reason. */
  readonly onOver: () => void;
}

/** Connects to an SRT target. Returns a sentence if the address is not allowed. */
export function connectSrt(settings: SrtConnectionSettings): TargetConnection | string {
  const { outbound, url } = settings;
  const refusal = outbound.refusalOf(url, FORWARD);
  if (refusal !== null) return refusal;
  const address = srtAddressOf(url);
  return typeof address === "string" ? address : new SrtConnection(settings, address);
}

class SrtConnection implements TargetConnection {
  readonly #settings: SrtConnectionSettings;
  readonly #deadline: Timer;
  #link: SrtLink | null = null;
  #written = 0;
  #taken = 0;
  #isOver = false;

  constructor(settings: SrtConnectionSettings, address: SrtAddress) {
    this.#settings = settings;
    this.#deadline = settings.clock.after(CONNECT_MS, () =>
      this.#lose(`The target did not accept the stream within ${CONNECT_MS / 1000} s.`),
    );
    void this.#connect(address);
  }

  get queuedBytes(): number {
    return this.#written - this.#taken;
  }

  write(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#written += bytes.byteLength;
    this.#link?.send(bytes);
  }

  close(): void {
    this.#end(false);
  }

  destroy(): void {
    this.#end(true);
  }

  async #connect(address: SrtAddress): Promise<void> {
    const { outbound, srt, url, handler } = this.#settings;
    try {
      // Connects to the very address that was checked, without resolving the name again.
      const place = await outbound.find({ url, purpose: FORWARD });
      if (this.#isOver) return;
      this.#link = srt.connect(
        { ...address, ...place },
        {
          connected: () => {
            this.#deadline.cancel();
            handler.ready({ key: "ts", create: () => new TsFormat() });
          },
          taken: (bytes) => {
            this.#taken = bytes;
          },
          failed: (failure) => this.#fail(failure),
        },
      );
    } catch (error) {
      this.#fail(failureOfConnection(error));
    }
  }

  #lose(reason: string): void {
    this.#fail({ reason, isTemporary: true });
  }

  #fail(failure: TargetFailure): void {
    if (this.#isOver) return;
    this.destroy();
    this.#settings.handler.failed(failure);
  }

  #end(isAtOnce: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settings.onOver();
    this.#deadline.cancel();
    this.#link?.close(isAtOnce);
  }
}
