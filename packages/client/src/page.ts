import type { AnswerOf, Operation, RouteOf } from "@weir/contract";
import { answerOf, type Given } from "./operation.ts";
import type { CallOptions, Transport } from "./transport.ts";

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

/** Operations that answer with a list. */
type ListOperation = {
  [Of in Operation]: AnswerOf<RouteOf<Of>> extends readonly unknown[] ? Of : never;
}[Operation];

type ItemOf<Of extends ListOperation> = AnswerOf<RouteOf<Of>> extends readonly (infer Item)[] ? Item : never;

/** One page of a list, with the cursor from its `Link` header. */
export async function fetchPage<const Of extends ListOperation>(
  transport: Transport,
  operation: Of,
  given: Given<Of>,
): Promise<Page<ItemOf<Of>>> {
  const response = await answerOf(transport, operation, given);
  const items = (await response.json()) as ItemOf<Of>[];
  const nextCursor = nextCursorOf(response.headers.get("link"));
  return nextCursor === undefined ? { items } : { items, nextCursor };
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

/** The cursor in `<https://…?cursor=C>; rel="next"` (RFC 8288). */
function nextCursorOf(link: string | null): string | undefined {
  const address = link?.match(/<([^>]*)>\s*;[^,]*\brel="?next\b/)?.[1];
  if (address === undefined) return undefined;
  return new URL(address, "http://relative.invalid").searchParams.get("cursor") ?? undefined;
}
