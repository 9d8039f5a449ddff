import type { FastifyReply } from "fastify";
import { type RawBuilder, sql } from "kysely";
import type { Db, Schema } from "../schema.ts";
import type { ApiRequest } from "./api-routes.ts";
import { type ListFields, mapPage, type Page, parseListQuery, readPage } from "./list-query.ts";

type ListAsked = Pick<ApiRequest, "principal" | "id" | "params" | "query" | "origin" | "url">;

export interface ListOptions<Row, Item> {
  readonly fields: ListFields;
  /** Unless the query names another. */
  readonly order: string;
  readonly columns?: RawBuilder<unknown>;
  /** The rows belong to the account, and to none of its projects. */
  readonly isOfAccount?: true;
  /** Narrows the list. May throw, once the query was read. */
  readonly only?: (asked: ListAsked) => RawBuilder<unknown> | Promise<RawBuilder<unknown>>;
  /** The row as this caller may see it. */
  readonly shown: (row: Row, asked: ListAsked) => Item;
}

/** Answers requests for a list of the caller's rows of a table. */
export function listOf<Row, Item>(db: Db, table: keyof Schema, options: ListOptions<Row, Item>) {
  const { fields, order, columns, isOfAccount, only, shown } = options;
  return async (asked: ListAsked, reply: FastifyReply): Promise<Item[]> => {
    const list = parseListQuery(asked.query, fields, order);
    const also = (await only?.(asked)) ?? sql`true`;
    const { userId, projectId } = asked.principal;
    const mine = isOfAccount ? sql`user_id = ${userId}` : sql`project_id = ${projectId}`;
    const where = sql`${mine} and ${list.where} and ${also}`;
    const page = await readPage<Row>(db, list, { from: sql.table(table), ...(columns && { columns }), where });
    const items = mapPage(page, (row) => shown(row, asked));
    return answerPage(reply, items, asked);
  };
}

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
