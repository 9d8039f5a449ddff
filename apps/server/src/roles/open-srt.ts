import type { SrtIngest } from "../media/ingest/index.ts";
import { INSTALL_LIBSRT, type SrtListening, type SrtProcess } from "../media/srt/index.ts";
import type { Metrics } from "../platform/metrics/metrics.ts";
import type { Opening } from "./opening.ts";

type SrtOpening = Pick<Opening, "readiness" | "metrics" | "warnings" | "log"> & {
  readonly config: Pick<Opening["config"], "host" | "srtPassphrase">;
  readonly listeners: Pick<Opening["listeners"], "srt">;
};

/** Opens the port for SRT publishers; false if it stays closed. Everything else does without, so a problem is a warning. */
export async function openSrt(
  { config, listeners: { srt: listener }, readiness, metrics, warnings, log }: SrtOpening,
  srt: Pick<SrtProcess, "listen" | "listening">,
  ingest: SrtIngest,
): Promise<boolean> {
  if (!listener) return false;
  const problem = await listener
    .openUdp()
    .then(async (reserved) => {
      // For the SRT process, which opens it by itself.
      await new Promise<void>((resolve) => reserved.close(resolve));
      const address = config.host === "localhost" ? "127.0.0.1" : config.host;
      const passphrase = config.srtPassphrase?.reveal() ?? null;
      return problemOf(await srt.listen({ host: address, port: listener.port, passphrase }, ingest));
    })
    .catch(({ message }: Error) => `${message}; going on without it`);
  if (problem === null) {
    readiness.addNote("srt", () => problemOf(srt.listening));
    measureSrt(metrics, ingest);
    return true;
  }
  readiness.addNote("srt", () => problem);
  log.warn(problem);
  warnings.push(problem);
  return false;
}

export function measureSrt(metrics: Metrics, ingest: Pick<SrtIngest, "packets">): void {
  metrics.totals(
    "weir_srt_packets_total",
    "Packets of SRT publishers: late ones came too late or never, so that pictures are missing",
    "outcome",
    () => ingest.packets,
  );
}

function problemOf(listening: SrtListening): string | null {
  if (listening.at === "listening") return null;
  if (listening.at === "starting") return "starting";
  if (listening.at === "failed") return `The SRT port cannot be opened: ${listening.reason}`;
  return `SRT publishing is off: it needs libsrt, which this machine does not have. ${INSTALL_LIBSRT}, then restart Weir`;
}
