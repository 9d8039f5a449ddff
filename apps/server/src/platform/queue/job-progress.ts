import { type QueryExecutorProvider, sql } from "kysely";
import { JobCancelled } from "./job.ts";

interface Running {
  readonly name: string;
  readonly id: string;
}

/** A job's progress, stored in the library's row in the field for its result. */
export class JobProgress {
  readonly #db: QueryExecutorProvider;
  readonly #schema: string;
  readonly #job: Running;

  constructor(db: QueryExecutorProvider, schema: string, job: Running) {
    this.#db = db;
    this.#schema = schema;
    this.#job = job;
  }

  async tell(done: number): Promise<void> {
    const { name, id } = this.#job;
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(`${this.#schema}.job`)} set output = jsonb_build_object('progress', ${done}::float8)
      where name = ${name} and id = ${id} and state = 'active'`.execute(this.#db);
    if (numAffectedRows === 0n)
      throw new JobCancelled(`the job ${name} ${id} was cancelled or given to another process`);
  }

  static read(output: unknown): number {
    const progress = (output as { progress?: unknown } | null)?.progress;
    return typeof progress === "number" ? progress : 0;
  }
}
