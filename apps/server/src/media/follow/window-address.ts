import type { FollowedPlace } from "./window-sender.ts";

/** `/live/{playbackId}?from=source:12.3,audio:11`: with parts, of an open segment; without, of a complete one. */
const ADDRESS = /^\/live\/([a-z0-9]{4,64})(?:\?from=([\w:.,-]{1,4000}))?$/;
const PLACE = /^([\w-]{1,64}):(\d{1,15})(?:\.(\d{1,6}))?$/;

export interface WindowAddress {
  readonly playbackId: string;
  readonly from: ReadonlyMap<string, FollowedPlace>;
}

/** Null for anything else. Places that are none are left out. */
export function parseWindowAddress(url: string): WindowAddress | null {
  const [, playbackId, text = ""] = ADDRESS.exec(url) ?? [];
  return playbackId === undefined ? null : { playbackId, from: parsePlaces(text) };
}

/** What `writePlaces` has written. Places that are none are left out. */
export function parsePlaces(text: string): ReadonlyMap<string, FollowedPlace> {
  const from = new Map<string, FollowedPlace>();
  for (const place of text.split(",")) {
    const [, name, msn, parts] = PLACE.exec(place) ?? [];
    if (name !== undefined)
      from.set(name, { msn: Number(msn), parts: Number(parts ?? 0), isComplete: parts === undefined });
  }
  return from;
}

/** What a node has already; empty for nothing. */
export function writePlaces(session: { readonly places: ReadonlyMap<string, FollowedPlace> } | null): string {
  const places = [...(session?.places ?? [])].map(([name, { msn, parts, isComplete }]) =>
    isComplete ? `${name}:${msn}` : `${name}:${msn}.${parts}`,
  );
  return places.join(",");
}
