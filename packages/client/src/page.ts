import type { CallOptions } from "./transport.ts";

/** Selects a page. */
export interface ListOptions extends CallOptions {
  /** Objects per page, 1 to 1000; the server's default is 20. */
  readonly limit?: number | undefined;
  /** `nextCursor` of the previous page; absent for the first one. */
  readonly cursor?: string | undefined;
}

/** One page of a list. `nextCursor` is absent on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** Every object of a list, page after page; each page is fetched when the previous one is used up. */
export async function* eachOf<T>(
  list: (cursor: string | undefined) => Promise<Page<T>>,
  first?: string,
): AsyncGenerator<T, void> {
  let cursor = first;
  do {
    const page = await list(cursor);
    yield* page.items;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
