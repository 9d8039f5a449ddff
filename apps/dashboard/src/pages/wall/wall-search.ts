import { type StreamSearch, streamSearch } from "../../features/streams/stream-search.ts";

/** The part of the live streams that the wall shows, as encoded in the address. */
export type WallSearch = Pick<StreamSearch, "name" | "cursor"> & { readonly state?: "unhealthy" };

/** Reads an address; unknown values are left out. */
export function wallSearch(search: Record<string, unknown>): WallSearch {
  const { name, state, cursor } = streamSearch(search);
  return { ...(name && { name }), ...(state === "unhealthy" && { state }), ...(cursor && { cursor }) };
}

/** Sorted by name, so that a stream keeps its place while others come and go. */
export function wallStreams({ state = undefined, ...search }: WallSearch): StreamSearch {
  return { ...search, state: state ?? "active", sort: "name" };
}
