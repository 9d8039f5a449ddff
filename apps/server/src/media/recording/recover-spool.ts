import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { BackOff, sleep } from "../../platform/retry.ts";
import type { MediaFact } from "../../ports/index.ts";
import { reportInBatches } from "./report-in-batches.ts";
import type { SpanSealer, SpanSealerSettings } from "./span-sealer.ts";
import { readChapter, type SpoolChapter } from "./spool-chapter.ts";

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
      settings.log.error(
        { err: error, folder },
        "cannot read a recording left by an earlier run; retrying at the next start",
      );
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
  const all = [...facts, ...damageFact(chapter, clock.now())];
  const wait = new BackOff(200, 10_000);
  while (!(await reportInBatches(eventSink, all))) {
    if (signal.aborted) return;
    await sleep(clock, wait.next());
  }
  const isDamaged = Object.values(damage).some((count) => count > 0);
  if (isDamaged)
    log.warn({ sessionId, wholeSegments: facts.length, damage }, "a recording left open by an earlier run is damaged");
  else log.info({ sessionId, segments: facts.length }, "recovered a part of a recording that an earlier run left open");
  sealer.add(folder, eventSink.lost);
}

/** A line cut off when the process died describes a segment that nobody was promised. Only lost segments are reported. */
function damageFact({ streamId, sessionId, epoch, damage }: SpoolChapter, at: number): MediaFact[] {
  if (damage.segments === 0) return [];
  const segments = damage.segments === 1 ? "one segment was" : `${damage.segments} segments were`;
  const reason = `part of the recording is missing: ${segments} damaged on the disk when the server stopped`;
  return [{ type: "recording-failed", streamId, epoch, at, sessionId, reason }];
}
