import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { BackOff, sleep } from "../../platform/retry.ts";
import { reportInBatches } from "./report-in-batches.ts";
import { FROM_EARLIER_RUN, type SpanSealer, type SpanSealerSettings } from "./span-sealer.ts";
import { readChapter } from "./spool-chapter.ts";

export interface SpoolRecoverySettings extends Omit<SpanSealerSettings, "store"> {
  readonly sealer: SpanSealer;
  /** Aborted while the database does not answer: the next start tries again. */
  readonly signal: AbortSignal;
}

/** The chapters that an earlier run left in the spool. Call it before anything new is written there. */
export async function listSpool(folder: string): Promise<string[]> {
  return (await readdir(folder)).map((name) => join(folder, name));
}

/**
 * Hand the remains of an earlier run in the spool to the sealer. First it reports the facts of the journals again (receivers ignore known
 * facts), so that every recording is judged with all its facts. An unreadable chapter stays for the next start.
 */
export async function recoverSpool(folders: readonly string[], settings: SpoolRecoverySettings): Promise<void> {
  for (const folder of folders) {
    try {
      await recoverChapter(folder, settings);
    } catch (error) {
      const { code = "ENOTDIR" } = error as NodeJS.ErrnoException;
      const isOurs = code !== "ENOTDIR";
      const what = `cannot read a recording left by an earlier run; retrying ${isOurs ? "soon" : "at the next start"}`;
      settings.log.error({ err: error, folder }, what);
      // A disk that cannot read it now, or a process with too many files open: both pass.
      if (isOurs) settings.sealer.add(folder, FROM_EARLIER_RUN);
    }
  }
}

async function recoverChapter(
  folder: string,
  { clock, log, eventSink, sealer, signal }: SpoolRecoverySettings,
): Promise<void> {
  const chapter = await readChapter(folder);
  if (!chapter) {
    log.info({ folder }, "removing a part of a recording that holds no whole segment");
    return rm(folder, { recursive: true, force: true });
  }
  const { sessionId, facts, damage } = chapter;
  if (Object.values(damage).some((count) => count > 0))
    log.warn({ sessionId, wholeSegments: facts.length, damage }, "a recording left open by an earlier run is damaged");
  // The object store may have what the disk lost: the sealer asks it, and reports the rest.
  const isSure = damage.segments === 0;
  const sure = isSure ? facts : facts.filter(({ recorded }) => recorded.every(({ gap }) => !gap));
  const wait = new BackOff(200, 10_000);
  while (!(await reportInBatches(eventSink, sure))) {
    if (signal.aborted) return;
    await sleep(clock, wait.next());
  }
  log.info({ sessionId, segments: sure.length }, "recovered a part of a recording that an earlier run left open");
  sealer.add(folder, isSure ? eventSink.lost : FROM_EARLIER_RUN);
}
