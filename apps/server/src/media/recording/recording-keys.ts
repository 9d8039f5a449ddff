/** Object keys of recordings. Made of ids and numbers of our own only; no name that a user chose gets here. */

export function recordingKey(projectId: string, sessionId: string, rendition: string, file: string): string {
  return `v1/${projectId}/rec/${sessionId}/${rendition}/${file}`;
}

/** Rows of one publisher epoch from `firstMsn` on, sealed beside the spans: from them an index can be rebuilt without the database. */
export function recordingIndexKey(projectId: string, sessionId: string, epoch: number, firstMsn: number): string {
  return `v1/${projectId}/rec/${sessionId}/index-${epoch}-${String(firstMsn).padStart(10, "0")}.json`;
}

export function spanName(epoch: number, firstMsn: number): string {
  return `${epoch}-${String(firstMsn).padStart(10, "0")}.m4s`;
}
