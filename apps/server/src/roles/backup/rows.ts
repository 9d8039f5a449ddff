import { createReadStream, createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { StartupError } from "../../platform/startup-error.ts";
import { Hashing, type IndexedObject } from "./object-index.ts";
import { type Partition, partitionsIn, quoted, type Table, tablesIn } from "./tables.ts";

/** Rows in files, one for each table, in PostgreSQL's text format. */
export interface RowsManifest {
  readonly tables: readonly (Table & IndexedObject)[];
  readonly partitions: readonly Partition[];
}

const fileOf = (folder: string, table: string): string => join(folder, `${table}.copy`);
const listOf = (columns: readonly string[]): string => columns.map(quoted).join(", ");

/** Write all of Weir's rows, as the client's transaction sees them, below `folder`. */
export async function dumpRows(client: pg.Client, folder: string): Promise<RowsManifest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const tables = await tablesIn(client);
  const partitions = await partitionsIn(client, tables);
  const dumped: (Table & IndexedObject)[] = [];
  for (const table of tables) {
    const hashing = new Hashing();
    // A query, as the rows of a partitioned table cannot be copied by its name.
    const rows = client.query(copyTo(`copy (select ${listOf(table.columns)} from ${quoted(table.name)}) to stdout`));
    const file = createWriteStream(fileOf(folder, table.name), { mode: 0o600, flush: true });
    await pipeline(rows, (chunks: AsyncIterable<Uint8Array>) => hashing.through(chunks), file);
    dumped.push({ ...table, ...hashing.result });
  }
  return { tables: dumped, partitions };
}

/** Put the rows into the tables, within the client's transaction. What migrations put there gives way. Throws `StartupError` for a damaged file. */
export async function loadRows(client: pg.Client, folder: string, { tables, partitions }: RowsManifest): Promise<void> {
  for (const { name, parent, bound } of partitions)
    await client.query(`create table if not exists ${quoted(name)} partition of ${quoted(parent)} ${bound}`);
  await client.query(`truncate ${tables.map(({ name }) => quoted(name)).join(", ")}`);
  for (const { name, columns, sha256, bytes } of tables) {
    const hashing = new Hashing();
    const rows = client.query(copyFrom(`copy ${quoted(name)} (${listOf(columns)}) from stdin`));
    await pipeline(
      createReadStream(fileOf(folder, name)),
      (chunks: AsyncIterable<Uint8Array>) => hashing.through(chunks),
      rows,
    );
    if (hashing.result.sha256 !== sha256 || hashing.result.bytes !== bytes)
      throw new StartupError(
        `the rows of ${name} in the backup are damaged: restore an earlier backup, or another copy of this one`,
      );
  }
  await raiseSequences(client, tables);
}

/** Numbers that the database gives out go on behind those that are used. */
async function raiseSequences(client: pg.Client, tables: readonly Table[]): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
     where a.attidentity <> '' and c.relnamespace = current_schema()::regnamespace and c.relname = any($1)`,
    [tables.map(({ name }) => name)],
  );
  for (const { table, column } of rows)
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), (select coalesce(max(${quoted(column)}), 0) + 1 from ${quoted(table)}), false)`,
      [quoted(table), column],
    );
}

/** Whether the files are those that the manifest tells of. Throws `StartupError` for the first that is not. */
export async function verifyRows(folder: string, { tables }: RowsManifest): Promise<void> {
  for (const { name, sha256 } of tables) {
    const hashing = new Hashing();
    for await (const _ of hashing.through(createReadStream(fileOf(folder, name))));
    if (hashing.result.sha256 !== sha256)
      throw new StartupError(`the rows of ${name} in the backup are damaged: take another backup`);
  }
}
