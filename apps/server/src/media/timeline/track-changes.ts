import type { Track } from "../packet.ts";

/** True if players need no discontinuity: no track is missing or has changed. The playlist of further audio has only what follows. */
export function goOn(before: readonly Track[], after: readonly Track[]): boolean {
  return areIn(after, before) && after.every((track) => track.kind === "audio" || areIn(before, [track]));
}

/** True if each of `some` is among `tracks`, unchanged. */
export function areIn(tracks: readonly Track[], some: readonly Track[]): boolean {
  return some.every((track) => tracks.some((other) => other.id === track.id && isSameTrack(track, other)));
}

export function isSameTrack(a: Track, b: Track): boolean {
  if (a.codec !== b.codec || a.config.byteLength !== b.config.byteLength) return false;
  return a.config.every((byte, index) => byte === b.config[index]);
}
