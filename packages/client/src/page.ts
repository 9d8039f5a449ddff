import type { CallOptions, Transport } from "./transport.ts";

export interface ListOptions extends CallOptions {
  /** Objects per page, 1 to 1000; the server's default is 20. */
  readonly limit?: number | undefined;
  /** Where to go on: `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** One page of a list. `nextCursor` is absent on the last one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export async function fetchPage<T>(
  transport: Transport,
  path: string,
  query: Query,
  call: CallOptions,
): Promise<Page<T>> {
  const response = await transport.send("GET", path, { query, signal: call.signal });
  const items = (await response.json()) as T[];
  const nextCursor = nextCursorOf(response.headers.get("link"));
  return nextCursor === undefined ? { items } : { items, nextCursor };
}

/** Every object of a list, page after page, each fetched when the one before is used up. */
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

/** The cursor in `<https://…?cursor=C>; rel="next"` (RFC 8288). */
function nextCursorOf(link: string | null): string | undefined {
  const address = link?.match(/<([^>]*)>\s*;[^,]*\brel="?next\b/)?.[1];
  if (address === undefined) return undefined;
  return new URL(address, "http://relative.invalid").searchParams.get("cursor") ?? undefined;
}
