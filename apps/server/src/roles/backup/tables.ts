import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type pg from "pg";

export const MIGRATIONS = fileURLToPath(new URL("../../../migrations", import.meta.url));
/** One table, with what a copy of its rows needs. */
export interface Table {
  readonly name: string;
  /** Those that are stored; generated ones follow from them. */
  readonly columns: readonly string[];
  readonly isPartitioned: boolean;
}

/** A partition, as the statement that makes it. */
export interface Partition {
  readonly name: string;
  readonly parent: string;
  /** `FOR VALUES FROM (…) TO (…)`, in PostgreSQL's own words. */
  readonly bound: string;
}

/** The names of Weir's tables, from the migrations: a database may hold others. The list of migrations is not among them. Jobs are left out, as every row that needs one gets it anew. */
export async function weirTables(folder = MIGRATIONS): Promise<string[]> {
  const names = new Set<string>();
  for (const file of (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort()) {
    const text = (await readFile(join(folder, file), "utf8")).replace(/--.*$/gm, "");
    const statements =
      /create table (?:if not exists )?(\w+)|drop table (?:if exists )?(\w+)|alter table (\w+) rename to (\w+)/g;
    for (const [, created, dropped, before, after] of text.matchAll(statements)) {
      for (const gone of [dropped, before]) if (gone) names.delete(gone);
      for (const made of [created, after]) if (made) names.add(made);
    }
  }
  return [...names];
}

/** Weir's tables in this database, each behind those that its rows refer to. Throws for a circle, which no migration makes. */
export async function tablesIn(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table & { refersTo: string[] }>(
    `select c.relname as name, c.relkind = 'p' as "isPartitioned",
       array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         and a.attgenerated = '' order by a.attnum) as columns,
       array(select distinct f.confrelid::regclass::text from pg_constraint f where f.conrelid = c.oid and f.contype = 'f'
         and f.confrelid <> c.oid) as "refersTo"
     from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relname = any($1)`,
    [await weirTables()],
  );
  const ordered: Table[] = [];
  for (let left = rows; left.length > 0; ) {
    const waiting = new Set(left.map(({ name }) => name));
    const next = left.filter(({ refersTo }) => !refersTo.some((name) => waiting.has(name)));
    if (next.length === 0) throw new Error(`these tables refer to each other: ${[...waiting].join(", ")}`);
    ordered.push(...next.map(({ name, columns, isPartitioned }) => ({ name, columns, isPartitioned })));
    left = left.filter((table) => !next.includes(table));
  }
  return ordered;
}

export async function partitionsIn(client: pg.Client, tables: readonly Table[]): Promise<Partition[]> {
  const { rows } = await client.query<Partition>(
    `select c.relname as name, p.relname as parent, pg_get_expr(c.relpartbound, c.oid) as bound
     from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
     where p.relnamespace = current_schema()::regnamespace and p.relname = any($1) order by c.relname`,
    [tables.filter(({ isPartitioned }) => isPartitioned).map(({ name }) => name)],
  );
  return rows;
}

/** A name within a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
