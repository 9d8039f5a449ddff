/** A child decodes one file and encodes several rungs in parallel. */
const CORES_PER_CHILD = 2;

/** How many children may encode files: as many as live transcoding leaves cores for, and at least one, which runs at low priority. */
export function encodingSlots(cores: number, liveCores: number): number {
  return Math.max(1, Math.floor((cores - liveCores) / CORES_PER_CHILD));
}
