import type { Clock } from "../../../platform/clock.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import type { PayloadMemory } from "../../packet.ts";
import type { SrtProcess } from "../../srt/index.ts";
import type { PacedMemory } from "./paced-memory.ts";

/** What sources are opened with. */
export interface SourceOpening {
  readonly outbound: Pick<Outbound, "send" | "find" | "dial">;
  readonly srt: Pick<SrtProcess, "connect">;
  readonly clock: Clock;
  /** For what is read in pieces that packets are made of. */
  readonly memory: PayloadMemory & { allocate(bytes: number): Uint8Array };
  /** What pulls keep together: indexes of files count too. */
  readonly ahead: PacedMemory;
  readonly signal: AbortSignal;
}
