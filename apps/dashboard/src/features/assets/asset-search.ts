import { textOf } from "../../lib/search-text.ts";

/** The phases that assets can be listed by. */
export const PHASES = ["uploading", "waiting", "processing", "ready", "failed", "deleting"] as const;

/** The filters of the list of assets, as they are in the address. */
export interface AssetSearch {
  readonly name?: string;
  readonly phase?: (typeof PHASES)[number];
  readonly cursor?: string;
}

/** Reads an address; unknown values are left out. */
export function assetSearch(search: Record<string, unknown>): AssetSearch {
  const name = textOf(search.name);
  const cursor = textOf(search.cursor);
  const phase = PHASES.find((known) => known === search.phase);
  return { ...(name && { name }), ...(phase && { phase }), ...(cursor && { cursor }) };
}
