import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { RecordedSegment, StoredTrack } from "../../ports/index.ts";
import { initName } from "../packaging/init-of-track.ts";
import { initOfStoredTrack } from "../stored/stored-track.ts";

/** An init segment of a chapter, with the bytes that its name is the hash of. */
export interface SpoolInit {
  readonly rendition: string;
  readonly init: string;
  readonly bytes: Uint8Array;
}

/** Those that decoders need have some hundred bytes. */
const MAX_INIT_BYTES = 1 << 20;

/** All init segments that the rows need and that are whole in the folder, or can be written again from the tracks in the journal. */
export async function wholeInits(
  folder: string,
  rows: readonly RecordedSegment[],
  tracks: ReadonlyMap<string, readonly StoredTrack[]>,
): Promise<readonly SpoolInit[]> {
  const needed = new Map(rows.map((row) => [`${row.rendition}/${row.init}`, row]));
  const inits: SpoolInit[] = [];
  for (const { rendition, init, track } of needed.values()) {
    const bytes = await copyOf(join(folder, rendition, init), init);
    const whole = bytes ?? rebuilt(init, [track, ...(tracks.get(rendition) ?? [])]);
    if (whole) inits.push({ rendition, init, bytes: whole });
  }
  return inits;
}

/** Null if it is missing or damaged. */
async function copyOf(path: string, name: string): Promise<Uint8Array | null> {
  try {
    if ((await stat(path)).size > MAX_INIT_BYTES) return null;
    const bytes = await readFile(path);
    return initName(bytes) === name ? bytes : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function rebuilt(name: string, tracks: readonly StoredTrack[]): Uint8Array | null {
  for (const track of tracks) {
    const bytes = initOfStoredTrack(track, name);
    if (bytes) return bytes;
  }
  return null;
}
