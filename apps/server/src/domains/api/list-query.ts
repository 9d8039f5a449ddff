import { type RawBuilder, type Simplify, sql } from "kysely";
import { isId } from "../ids.ts";
import type { Db, Trx } from "../schema.ts";
import { BadRequest } from "./api-error.ts";

/** How a field of a list may be filtered: `text` and `id` by equality, `search` by part, `int` also by `gt gte lt lte`. */
export type FieldKind = "id" | "text" | "search" | "int" | "boolean";

export interface ListField {
  readonly kind: FieldKind;
  /** SQL of the column or expression. */
  readonly column: RawBuilder<unknown>;
}

export type ListFields = Readonly<Record<string, ListField>>;
/** The names of fields, by their kind. */
type NamesOfKinds = Readonly<Partial<Record<FieldKind, readonly string[]>>>;

/** Fields with the names of their columns: `createdAt` is `created_at`, of `table` where several are joined. */
export function fieldsOf(names: NamesOfKinds, table?: string): ListFields {
  const columnOf = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const fields = Object.entries(names).flatMap(([kind, ofKind]) =>
    ofKind.map((name) => {
      const column = sql.ref(table === undefined ? columnOf(name) : `${table}.${columnOf(name)}`);
      return [name, { kind: kind as FieldKind, column }] as const;
    }),
  );
  return Object.fromEntries(fields);
}

export type RawQuery = Readonly<Record<string, unknown>>;

export interface ListRequest {
  readonly limit: number;
  readonly skip: number;
  readonly order: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  readonly wantsCount: boolean;
}

export type Page<Item> = Simplify<{ items: Item[]; next: string | null; count: number | null }>;

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1000;
const MAX_FILTERS = 20;
const CURSOR = /^skip(\d{1,7})$/;
const COMPARISONS: Readonly<Record<string, RawBuilder<unknown>>> = {
  gt: sql`>`,
  gte: sql`>=`,
  lt: sql`<`,
  lte: sql`<=`,
};

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The value of a free-text query parameter; undefined if it is absent or repeated. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value.replaceAll("\0", "") : undefined;

/** Any value except `false` sets a flag. */
export const isSet = (value: unknown): boolean => value !== undefined && value !== "false";

/** Read `limit cursor order filters count` against the fields of a list. Throws `BadRequest`; unknown parameters are ignored. */
export function parseListQuery(query: RawQuery, fields: ListFields, defaultOrder: string): ListRequest {
  const limit = Number.parseInt(text(query.limit), 10);
  return {
    limit: limit >= 1 ? Math.min(limit, MAX_LIMIT) : DEFAULT_LIMIT,
    skip: parseCursor(query.cursor),
    order: parseOrder(text(query.order), fields) ?? parseOrder(defaultOrder, fields) ?? sql`id`,
    where: parseFilters(query.filters, fields),
    wantsCount: query.count === "true",
  };
}

export const mapPage = <Row, Item>(page: Page<Row>, itemOf: (row: Row) => Item): Page<Item> => ({
  ...page,
  items: page.items.map(itemOf),
});

export interface PageSource {
  /** A table, or several joined. */
  readonly from: RawBuilder<unknown>;
  /** All of the table's if absent. */
  readonly columns?: RawBuilder<unknown>;
  /** Which rows the reader may see, and the list's own filters. */
  readonly where: RawBuilder<unknown>;
}

/** Read one page of a list, with the cursor of the next one. */
export async function readPage<Row>(
  db: Db,
  { limit, skip, order, wantsCount }: ListRequest,
  { from, columns = sql`*`, where }: PageSource,
): Promise<Page<Row>> {
  const { rows } = await sql<Row>`
    select ${columns} from ${from} where ${where} order by ${order} limit ${limit + 1} offset ${skip}`.execute(db);
  const next = rows.length > limit ? `skip${skip + limit}` : null;
  return { items: rows.slice(0, limit), next, count: wantsCount ? await countRows(db, from, where) : null };
}

export async function countRows(db: Db | Trx, from: RawBuilder<unknown>, where: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ n: string }>`select count(*) as n from ${from} where ${where}`.execute(db);
  return Number(rows[0]?.n);
}

/** Whether there are at least this many such rows. */
export async function hasRows(
  db: Db | Trx,
  from: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
  atLeast = 1,
): Promise<boolean> {
  const { rows } = await sql`select from ${from} where ${where} offset ${atLeast - 1} limit 1`.execute(db);
  return rows.length > 0;
}

function parseCursor(cursor: unknown): number {
  if (cursor === undefined || cursor === "") return 0;
  const match = CURSOR.exec(text(cursor));
  if (!match) throw new BadRequest("error parsing cursor: take it from the Link header of the page before");
  return Number(match[1]);
}

/** `field-true` is descending; unknown fields are ignored. The id at the end makes the order total. */
function parseOrder(order: string, fields: ListFields): RawBuilder<unknown> | null {
  const terms = order.split(",").flatMap((term) => {
    const [name = "", direction] = term.trim().split("-");
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) return [];
    return [direction === "true" ? sql`${field.column} desc nulls last` : sql`${field.column} asc nulls last`];
  });
  return terms.length > 0 ? sql.join([...terms.slice(0, 5), sql`id`]) : null;
}

function parseFilters(filters: unknown, fields: ListFields): RawBuilder<unknown> {
  if (filters === undefined || filters === "") return sql`true`;
  const parsed = parseJson(text(filters));
  if (!Array.isArray(parsed) || parsed.length > MAX_FILTERS)
    throw badFilters(`expected a JSON array of at most ${MAX_FILTERS}`);
  return sql.join([sql`true`, ...parsed.map((filter) => condition(filter, fields))], sql` and `);
}

function condition(filter: unknown, fields: ListFields): RawBuilder<unknown> {
  const { id, value } = (filter ?? {}) as { id?: unknown; value?: unknown };
  const field = typeof id === "string" && Object.hasOwn(fields, id) ? fields[id] : undefined;
  if (!field) throw badFilters(`unknown field ${JSON.stringify(id)?.slice(0, 50)}`);
  if (value === undefined || value === null) throw badFilters(`missing value for ${id}`);
  const { column, kind } = field;
  if (kind === "boolean") {
    if (typeof value !== "boolean") throw badFilters(`${id} takes true or false`);
    return sql`${column} = ${value}`;
  }
  if (kind === "int") return comparison(String(id), column, value);
  if (typeof value !== "string" || value.includes("\0")) throw badFilters(`${id} takes a text`);
  if (kind === "search") return sql`position(lower(${value}) in lower(${column})) > 0`;
  if (kind === "id") return isId(value) ? sql`${column} = ${value}::uuid` : sql`false`;
  return sql`${column} = ${value}`;
}

function comparison(id: string, column: RawBuilder<unknown>, value: unknown): RawBuilder<unknown> {
  if (typeof value === "number") return sql`${column} = ${value}::float8`;
  if (typeof value !== "object" || value === null)
    throw badFilters(`${id} takes a number or {"gt"|"gte"|"lt"|"lte": number}`);
  const terms = Object.entries(value).map(([name, bound]) => {
    const operator = Object.hasOwn(COMPARISONS, name) ? COMPARISONS[name] : undefined;
    if (!operator || typeof bound !== "number")
      throw badFilters(`${id} takes a number or {"gt"|"gte"|"lt"|"lte": number}`);
    return sql`${column} ${operator} ${bound}::float8`;
  });
  if (terms.length === 0) throw badFilters(`missing value for ${id}`);
  return sql.join(terms, sql` and `);
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw badFilters("not JSON");
  }
}

const badFilters = (why: string) => new BadRequest(`error parsing filters: ${why}`);
