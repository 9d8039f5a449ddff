import { DatabaseClock, systemClock } from "../../platform/clock.ts";
import { createLog } from "../../platform/log.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { readConfig } from "../config.ts";
import { configOfShare, type ProcessShare } from "../process-share.ts";
import { startAgainWhileAway } from "../start-again.ts";
import { startWeir, type Weir } from "../weir.ts";
import type { FromProcess, ToProcess } from "./process-messages.ts";

/*
 * One of several media processes of a server. It obeys its parent alone: a terminal, or systemd, signals all processes of a server at once. When the
 * parent is gone, node:cluster ends it.
 */
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.umask(0o077);

let running: Promise<Weir> | null = null;
const leaving = new AbortController();

process.on("message", (message: ToProcess) => {
  if (message.kind === "start") running = start(message.share);
  else if (message.kind === "metrics") void running?.then((weir) => tellMetrics(weir, message.id));
  else if (message.kind === "drain") void drain();
  else void stop();
});

async function start(share: ProcessShare): Promise<Weir> {
  const shownConfig = readConfig(process.env);
  const log = createLog({ level: shownConfig.logLevel, readable: process.stderr.isTTY === true }, process.stderr).child(
    {
      process: share.number,
    },
  );
  const config = configOfShare(shownConfig, share);
  const clock = new DatabaseClock(systemClock);
  try {
    const settings = { config, shownConfig, share, clock, log, signal: leaving.signal };
    const weir = await startAgainWhileAway(() => startWeir(settings), settings);
    tell({ kind: "ready", facts: weir.facts, udp: weir.udp });
    return weir;
  } catch (error) {
    if (leaving.signal.aborted) process.exit(0);
    if (!(error instanceof StartupError)) throw error;
    process.send?.({ kind: "failed", reason: error.message } satisfies FromProcess, () => process.exit(1));
    return new Promise(() => {});
  }
}

/** Says nothing if they cannot be collected: its parent has those of the others. */
async function tellMetrics({ metrics }: Weir, id: number): Promise<void> {
  const text = await metrics.text().catch(() => null);
  if (text !== null) tell({ kind: "metrics", id, text });
}

async function drain(): Promise<void> {
  const weir = await running;
  await weir?.drain().catch(() => {});
  tell({ kind: "drained" });
}

async function stop(): Promise<void> {
  leaving.abort();
  const weir = await running;
  await weir?.close();
  process.exit(0);
}

function tell(message: FromProcess): void {
  process.send?.(message);
}
