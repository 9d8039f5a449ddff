import type { FastifyReply } from "fastify";
import type { Page } from "./list-query.ts";

/** Put the URL of the next page and the total number of matches into the headers, and return the items. */
export function answerPage<Item>(
  reply: FastifyReply,
  page: Page<Item>,
  address: { origin: string; url: string },
): Item[] {
  if (page.next !== null) {
    const next = new URL(address.url, `${address.origin}/`);
    next.searchParams.set("cursor", page.next);
    reply.header("link", `<${next}>; rel="next"`);
  }
  if (page.count !== null) reply.header("x-total-count", page.count);
  return page.items;
}
