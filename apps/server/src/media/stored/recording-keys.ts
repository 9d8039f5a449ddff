import { recordingPrefix } from "../../ports/index.ts";

/** Object keys of recordings, built only from the server's own ids and numbers, never from a name that a user chose. */

export function recordingKey(projectId: string, sessionId: string, rendition: string, file: string): string {
  return `${recordingPrefix(projectId, sessionId)}${rendition}/${file}`;
}

/** The journal of one chapter, sealed next to its spans: the journals can rebuild an index without the database. */
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

/** A position in a session: its publisher's epoch and the first segment. */
export function placeName(epoch: number, firstMsn: number): string {
  return `${epoch}-${String(firstMsn).padStart(10, "0")}`;
}
