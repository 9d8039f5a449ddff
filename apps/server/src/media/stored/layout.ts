/** Names of stored files, built only from the server's own numbers, never from a name that a user chose. */

export function spanName(epoch: number, firstMsn: number): string {
  return `${placeName(epoch, firstMsn)}.m4s`;
}

/** A position in a session: its publisher's epoch and the first segment. */
export function placeName(epoch: number, firstMsn: number): string {
  return `${epoch}-${String(firstMsn).padStart(10, "0")}`;
}
