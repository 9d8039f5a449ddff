import { recordingPrefix } from "../../ports/index.ts";

/** Object keys of recordings. Made of ids and numbers of our own only; no name that a user chose gets here. */

export function recordingKey(projectId: string, sessionId: string, rendition: string, file: string): string {
  return `${recordingPrefix(projectId, sessionId)}${rendition}/${file}`;
}

/** The journal of one chapter, sealed beside its spans: from the journals an index can be rebuilt without the database. */
export function recordingIndexKey(
  projectId: string,
  sessionId: string,
  part: "source" | "rungs",
  epoch: number,
  firstMsn: number,
): string {
  const name = part === "rungs" ? "index-rungs" : "index";
  return `${recordingPrefix(projectId, sessionId)}${name}-${placeName(epoch, firstMsn)}.jsonl`;
}

export function spanName(epoch: number, firstMsn: number): string {
  return `${placeName(epoch, firstMsn)}.m4s`;
}

/** Where something begins in a session: its publisher's epoch and its first segment. */
export function placeName(epoch: number, firstMsn: number): string {
  return `${epoch}-${String(firstMsn).padStart(10, "0")}`;
}
