import { textOf } from "../../shared/lib/search-text.ts";

/** The phases that assets can be listed by. */
export const PHASES = ["uploading", "waiting", "processing", "ready", "failed", "deleting"] as const;

/** The fields that the list can be sorted by, in the API's names. A dash before a field means descending. */
export type AssetSort = SortField | `-${SortField}`;
const SORT_FIELDS = ["name", "createdAt"] as const;
type SortField = (typeof SORT_FIELDS)[number];
const SORTS: readonly AssetSort[] = SORT_FIELDS.flatMap((field): AssetSort[] => [field, `-${field}`]);

/** The filters of the list of assets, as they are in the address. */
export interface AssetSearch {
  readonly name?: string;
  readonly phase?: (typeof PHASES)[number];
  readonly sort?: AssetSort;
  readonly cursor?: string;
}

/** Reads an address; unknown values are left out. */
export function assetSearch(search: Record<string, unknown>): AssetSearch {
  const name = textOf(search.name);
  const cursor = textOf(search.cursor);
  const phase = PHASES.find((known) => known === search.phase);
  const sort = SORTS.find((known) => known === search.sort);
  return { ...(name && { name }), ...(phase && { phase }), ...(sort && { sort }), ...(cursor && { cursor }) };
}
