import { FORWARD, type Outbound } from "../../platform/outbound/outbound.ts";
import { type SrtAddress, type SrtLink, type SrtProcess, srtAddressOf } from "../srt/index.ts";
import { ConnectionLife, type ConnectionSettings } from "./connection-life.ts";
import { failureOfConnection } from "./refused-connection.ts";
import type { TargetConnection } from "./target-connection.ts";
import { TsFormat } from "./ts-format.ts";

export interface SrtConnectionSettings extends ConnectionSettings {
  readonly outbound: Pick<Outbound, "refusalOf" | "find">;
  readonly srt: Pick<SrtProcess, "connect">;
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
  readonly #life: ConnectionLife;
  #link: SrtLink | null = null;
  #written = 0;
  #taken = 0;

  constructor(settings: SrtConnectionSettings, address: SrtAddress) {
    this.#settings = settings;
    this.#life = new ConnectionLife(settings, () => this.destroy());
    void this.#connect(address);
  }

  get queuedBytes(): number {
    return this.#written - this.#taken;
  }

  write(bytes: Uint8Array): void {
    if (this.#life.isOver) return;
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
    const { outbound, srt, url } = this.#settings;
    try {
      // Connects to the very address that was checked, without resolving the name again.
      const place = await outbound.find({ url, purpose: FORWARD });
      if (this.#life.isOver) return;
      this.#link = srt.connect(
        { ...address, ...place, peer: "target" },
        {
          connected: () => this.#life.accepted({ key: "ts", create: () => new TsFormat() }),
          taken: (bytes) => {
            this.#taken = bytes;
          },
          failed: (failure) => this.#life.fail(failure),
        },
      );
    } catch (error) {
      this.#life.fail(failureOfConnection(error));
    }
  }

  #end(isAtOnce: boolean): void {
    if (this.#life.isOver) return;
    this.#life.end();
    this.#link?.close(isAtOnce);
  }
}
