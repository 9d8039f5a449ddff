import type { AnswerOf, Operation, RouteOf } from "@weir/contract";
import { answerOf, type Given } from "./operation.ts";
import type { Page } from "./page.ts";
import type { Transport } from "./transport.ts";

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

/** The cursor in `<https://…?cursor=C>; rel="next"` (RFC 8288). */
function nextCursorOf(link: string | null): string | undefined {
  const address = link?.match(/<([^>]*)>\s*;[^,]*\brel="?next\b/)?.[1];
  if (address === undefined) return undefined;
  return new URL(address, "http://relative.invalid").searchParams.get("cursor") ?? undefined;
}
