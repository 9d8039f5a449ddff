import { AwsClient } from "aws4fetch";
import pg from "pg";
import { expect } from "vitest";
import type { PostgresAddress } from "../../src/platform/postgres/embedded-postgres.ts";
import type { S3TestServer } from "../../src/platform/storage/s3-test-server.ts";

const JOBS = "weir_jobs.job";

interface SpanRow {
  readonly session_id: string;
  readonly rendition: string;
  readonly span: string;
  readonly bytes: string;
}

/** The rows and the objects of a server, read past it. */
export class StoredThings implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #s3: AwsClient;
  readonly #bucketUrl: string;

  private constructor(pool: pg.Pool, env: S3TestServer["env"]) {
    this.#pool = pool;
    // The database is stopped by faults.
    pool.on("error", () => {});
    this.#bucketUrl = `${env.WEIR_S3_ENDPOINT}/${env.WEIR_S3_BUCKET}`;
    this.#s3 = new AwsClient({
      accessKeyId: env.WEIR_S3_ACCESS_KEY_ID,
      secretAccessKey: env.WEIR_S3_SECRET_ACCESS_KEY,
      service: "s3",
      region: "us-east-1",
    });
  }

  static async open({ host, port, user, database }: PostgresAddress, env: S3TestServer["env"]): Promise<StoredThings> {
    return new StoredThings(new pg.Pool({ host, port, user, database, max: 2, idleTimeoutMillis: 100 }), env);
  }

  async rows<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    return (await this.#pool.query<Row>(text)).rows;
  }

  /** Every object's size, by its key. */
  async objects(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (let after = ""; ; ) {
      const query = new URLSearchParams({ "list-type": "2", "start-after": after });
      const answer = await this.#s3.fetch(`${this.#bucketUrl}?${query}`);
      const text = await answer.text();
      if (!answer.ok) throw new Error(`the bucket is listed with ${answer.status}: ${text.slice(0, 200)}`);
      const found = text.matchAll(/<Contents>.*?<Key>([^<]*)<\/Key>.*?<Size>(\d+)<\/Size>.*?<\/Contents>/gs);
      for (const [, key = "", size] of found) {
        sizes.set(key, Number(size));
        after = key;
      }
      if (!text.includes("<IsTruncated>true</IsTruncated>")) return sizes;
    }
  }

  /** Does a job of the server's that is done once in hours, now. Resolves when it is done. */
  async runJob(name: string, withinMs: number): Promise<void> {
    const set = "state = 'created', start_after = now(), started_on = null, completed_on = null, retry_count = 0";
    const began = await this.rows(
      `update ${JOBS} set ${set} where name = '${name}' and state = 'completed' returning id`,
    );
    if (began.length === 0) throw new Error(`the job ${name} has not been done yet`);
    await expect.poll(() => this.hasDone(name), { timeout: withinMs, interval: 500 }).toBe(true);
  }

  /** Whether a job of the server's was done, and waits for its next time. */
  async hasDone(name: string): Promise<boolean> {
    const rows = await this.rows<{ state: string }>(`select state from ${JOBS} where name = '${name}'`);
    return rows.length > 0 && rows.every(({ state }) => state === "completed");
  }

  /** Objects without rows, and rows without objects. */
  async mismatches(): Promise<string[]> {
    const objects = await this.objects();
    const spans = await this.rows<SpanRow>(
      `select s.session_id, s.rendition, s.span, s.bytes from recording_span s join session on session.id = s.session_id
        where session.recording in ('waiting', 'ready')`,
    );
    const sessions = await this.#ids("select id from session where recording in ('waiting', 'ready')");
    const assets = await this.#ids("select id from asset");
    const transcodes = await this.#ids("select id from transcode");
    const known = new Set(spans.map(({ session_id, rendition, span }) => `${session_id}/${rendition}/${span}`));
    const found: string[] = [];
    const sizes = new Map<string, number>();
    for (const [key, size] of objects) {
      const [, kind = "", id = "", rest = ""] = /^v1\/[^/]+\/(\w+)\/([^/]+)\/(.*)$/.exec(key) ?? [];
      const owners = { rec: sessions, asset: assets, transcode: transcodes }[kind];
      if (!owners?.has(id)) found.push(`the object ${key} belongs to nothing`);
      if (kind !== "rec") continue;
      sizes.set(`${id}/${rest}`, size);
      if (/\/\d+-\d+\.m4s$/.test(key) && !known.has(`${id}/${rest}`)) found.push(`the object ${key} has no row`);
    }
    for (const { session_id, rendition, span, bytes } of spans) {
      const size = sizes.get(`${session_id}/${rendition}/${span}`);
      // A span of gaps alone has no object.
      if (Number(bytes) > 0 && size !== Number(bytes))
        found.push(`span ${span} of ${session_id}/${rendition} has ${size ?? "no"} bytes in place of ${bytes}`);
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }

  async #ids(query: string): Promise<ReadonlySet<string>> {
    return new Set((await this.rows<{ id: string }>(query)).map(({ id }) => id));
  }
}
