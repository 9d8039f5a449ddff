import { createHash } from "node:crypto";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { StartupError } from "../../platform/startup-error.ts";

/** What an object is: its size, and the hash of its bytes. */
export interface IndexedObject {
  readonly bytes: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

/** Synced together: a kill costs copying so many objects again. */
const ADDED_AT_A_TIME = 64;
const PAGE = 1_000;
/** What a source has lasts as long as the connection. It goes to a file when it is large. */
const TABLES = `
  create table if not exists object (key text primary key, bytes integer not null, sha256 text not null) without rowid;
  create temporary table found (key text primary key) without rowid;
`;

interface Statements {
  readonly get: StatementSync;
  readonly put: StatementSync;
  readonly keysAfter: StatementSync;
  readonly find: StatementSync;
  readonly sumOfFound: StatementSync;
  readonly unfound: StatementSync;
  readonly remove: StatementSync;
}

/**
 * The objects that a copy holds, in a file of SQLite, so that memory does not grow with their number. What a kill cut off is rolled back at the next opening.
 */
export class ObjectIndex {
  readonly #path: string;
  #db: DatabaseSync | null = null;
  #statements: Statements | null = null;
  #size = 0;
  #added = 0;

  constructor(path: string) {
    this.#path = path;
  }

  get size(): number {
    return this.#size;
  }

  /** Throws `StartupError` for a file that is no index. */
  open(): void {
    try {
      this.#db = new DatabaseSync(this.#path);
      this.#db.exec(TABLES);
      this.#statements = statementsOf(this.#db);
      this.#size = Number(this.#db.prepare("select count(*) as size from object").get()?.size);
    } catch (error) {
      this.close();
      throw new StartupError(
        `the index of objects ${this.#path} cannot be read (${(error as Error).message}): use another copy of the backup, or delete this file and repeat weir backup, which then copies all objects`,
      );
    }
  }

  get(key: string): IndexedObject | undefined {
    const row = this.#opened.get.get(key);
    return row && { bytes: Number(row.bytes), sha256: String(row.sha256) };
  }

  /** In the order of their names. Others may be added meanwhile. */
  *keys(): Generator<string, void> {
    for (let last = "", page = [""]; page.length > 0; last = page.at(-1) ?? last) {
      page = keysOf(this.#opened.keysAfter.all(last, PAGE));
      yield* page;
    }
  }

  /** Durable after `flush`. */
  add(key: string, { bytes, sha256 }: IndexedObject): void {
    const isNew = this.get(key) === undefined;
    if (this.#added === 0) this.#db?.exec("begin");
    this.#opened.put.run(key, bytes, sha256);
    if (isNew) this.#size++;
    if (++this.#added >= ADDED_AT_A_TIME) this.flush();
  }

  flush(): void {
    if (this.#added > 0) this.#db?.exec("commit");
    this.#added = 0;
  }

  /** The source has it, as far as was looked since `open`. */
  noteFound(key: string): void {
    this.#opened.find.run(key);
  }

  /** Of those that the source has. */
  sumOfFound(): { readonly count: number; readonly bytes: number } {
    const { count, bytes } = this.#opened.sumOfFound.get() ?? {};
    return { count: Number(count), bytes: Number(bytes) };
  }

  /** Forgets some that the source does not have, durably, and returns their keys; none if there are no more. */
  forgetUnfound(): string[] {
    this.flush();
    const gone = keysOf(this.#opened.unfound.all(PAGE));
    this.#db?.exec("begin");
    for (const key of gone) this.#opened.remove.run(key);
    this.#db?.exec("commit");
    this.#size -= gone.length;
    return gone;
  }

  close(): void {
    this.flush();
    this.#db?.close();
    this.#db = null;
    this.#statements = null;
  }

  get #opened(): Statements {
    if (this.#statements === null) throw new Error(`the index ${this.#path} is not open`);
    return this.#statements;
  }
}

function statementsOf(db: DatabaseSync): Statements {
  return {
    get: db.prepare("select bytes, sha256 from object where key = ?"),
    put: db.prepare("insert or replace into object (key, bytes, sha256) values (?, ?, ?)"),
    keysAfter: db.prepare("select key from object where key > ? order by key limit ?"),
    find: db.prepare("insert or ignore into found (key) values (?)"),
    sumOfFound: db.prepare(
      "select count(*) as count, coalesce(sum(bytes), 0) as bytes from object join found using (key)",
    ),
    unfound: db.prepare("select key from object where key not in (select key from found) limit ?"),
    remove: db.prepare("delete from object where key = ?"),
  };
}

const keysOf = (rows: readonly Record<string, unknown>[]): string[] => rows.map(({ key }) => String(key));

/** Passes bytes on, and knows their number and hash when they are over. */
export class Hashing {
  readonly #hash = createHash("sha256");
  #bytes = 0;
  #digest: string | null = null;

  async *through(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of chunks) {
      this.#hash.update(chunk);
      this.#bytes += chunk.byteLength;
      yield chunk;
    }
  }

  get result(): IndexedObject {
    this.#digest ??= this.#hash.digest("hex");
    return { bytes: this.#bytes, sha256: this.#digest };
  }
}
