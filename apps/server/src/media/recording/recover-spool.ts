import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type { EventSink, SegmentClosed } from "../../ports.ts";
import { recordingIndexKey, recordingKey } from "./recording-keys.ts";

export interface SpoolRecoverySettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly eventSink: EventSink;
  /** The spool: one folder a session, named `{project}.{session}`. */
  readonly folder: string;
}

export function spoolFolder(folder: string, projectId: string, sessionId: string): string {
  return join(folder, `${projectId}.${sessionId}`);
}

/**
 * Seal what a killed process left in its spool. The journal's facts are told again (whoever knows them already ignores them), then the spans
 * that never reached the store are put there. Runs before anything is published; a folder that cannot be sealed is left for the next start.
 */
export async function recoverSpool(settings: SpoolRecoverySettings): Promise<void> {
  const names = await readdir(settings.folder).catch(() => []);
  for (const name of names) {
    const [projectId, sessionId] = name.split(".");
    if (!projectId || !sessionId) continue;
    try {
      await recoverSession(settings, join(settings.folder, name), projectId, sessionId);
    } catch (error) {
      settings.log.error(
        { error, sessionId },
        "a recording left by an earlier run could not be sealed; the next start tries again",
      );
    }
  }
}

async function recoverSession(
  { store, eventSink, clock, log }: SpoolRecoverySettings,
  folder: string,
  projectId: string,
  sessionId: string,
): Promise<void> {
  const facts = await readJournal(join(folder, "journal.jsonl"));
  for (const fact of facts) eventSink.report(fact);
  const rows = facts.flatMap((fact) => fact.recorded);
  const epochs = new Map(facts.map((fact) => [fact.epoch, fact]));
  for (const [epoch, fact] of epochs) {
    const ofEpoch = rows.filter((row) => row.epoch === epoch);
    const spans = new Map(ofEpoch.filter((row) => row.span !== "").map((row) => [`${row.rendition}/${row.span}`, row]));
    for (const { rendition, span } of spans.values()) {
      const key = recordingKey(projectId, sessionId, rendition, span);
      const path = join(folder, rendition, span);
      if ((await store.size(key)) === null) await store.putFile(key, path);
      const bytes = (await store.size(key)) ?? 0;
      eventSink.report({
        type: "span-sealed",
        streamId: fact.streamId,
        epoch,
        at: clock.now(),
        sessionId,
        rendition,
        span,
        bytes,
      });
    }
    const [first] = ofEpoch;
    if (first)
      await store.put(recordingIndexKey(projectId, sessionId, epoch, first.msn), Buffer.from(JSON.stringify(ofEpoch)));
  }
  if (await eventSink.settle()) await rm(folder, { recursive: true, force: true });
  log.info({ sessionId, segments: facts.length }, "sealed a recording that an earlier run left open");
}

/** Whole lines only: the last one may have been cut short by the kill. */
async function readJournal(path: string): Promise<SegmentClosed[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SegmentClosed);
}
