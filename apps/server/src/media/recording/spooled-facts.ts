import { basename } from "node:path";
import type { RecordingSpooled } from "../../ports/index.ts";

/** Facts that parts of these recordings are in the spool, one per session, derived from the names of the chapters' folders. */
export function spooledFacts(folders: Iterable<string>, at: number): RecordingSpooled[] {
  const facts = new Map<string, RecordingSpooled>();
  for (const folder of folders) {
    const [, sessionId, streamId, place] = basename(folder).split(".");
    // Folders of earlier versions do not name their owner.
    if (!sessionId || !streamId || !place) continue;
    facts.set(sessionId, { type: "recording-spooled", streamId, epoch: Number.parseInt(place, 10), at, sessionId });
  }
  return [...facts.values()];
}
