import { type QueryExecutorProvider, sql } from "kysely";
import type { KyselyTransactionLike, PgBoss } from "pg-boss";
import type { Clock, Timer } from "../clock.ts";
import type { Database } from "../database.ts";
import { DatabaseAway, isDatabaseAway } from "../database-away.ts";
import type { Log } from "../log.ts";
import { BackOff, sleep } from "../retry.ts";
import type { JobKind, JobPlaces } from "./job.ts";

const SCHEMA = "weir_jobs";
/** Without a heartbeat for this long, a job's process counts as dead. */
const HEARTBEAT_SECONDS = 20;
/** How often to look for jobs that have become due, such as retries. One query for all kinds; new jobs are announced by NOTIFY. */
const LOOK_SECONDS = 5;
/** The library's own polling, once for each job that may run at a time. Its workers are woken, so this hardly matters. */
const WORKER_POLL_SECONDS = 600;
const SUPERVISE_SECONDS = 10;
/** No job waits for another one to finish. The library looks for such jobs all the same. */
const FLOW_SECONDS = 3_600;
const FIRST_RETRY_SECONDS = 10;
const MAX_RETRY_SECONDS = 600;
const KEEP_FINISHED_SECONDS = 86_400;
const MAX_CLOSE_MS = 2_000;

export interface JobQueueSettings {
  /** The pool `jobs`: other pools would get connections back in the middle of a failed transaction. */
  readonly db: QueryExecutorProvider & KyselyTransactionLike;
  readonly channels: Pick<Database<unknown>, "listen">;
  readonly clock: Clock;
  readonly log: Log;
  /** All kinds that this process adds or works on. */
  readonly kinds: readonly JobPlaces[];
  /** How often a process looks for jobs that are due, and for jobs whose process died. */
  readonly lookSeconds?: number;
  readonly superviseSeconds?: number;
}

/**
 * Work that outlives the process that accepted it: a job is a row, runs in any worker process, is retried with back-off after a failure, and
 * moves to another process when its own stops sending heartbeats. A job may therefore run twice, and must have the same effect then.
 */
export class JobQueue {
  readonly #settings: JobQueueSettings;
  readonly #timers: Timer[] = [];
  /** The workers of this process by kind of job, one for each job that may run at a time. */
  readonly #workers = new Map<string, string[]>();
  #opening: Promise<PgBoss> | null = null;
  #isClosed = false;

  constructor(settings: JobQueueSettings) {
    this.#settings = settings;
  }

  /** Start working on jobs. If the database is unavailable or refuses the schema, this is retried with back-off. */
  start(kinds: readonly JobKind[]): void {
    void this.#startWorking(kinds);
  }

  /** Null if there is already a job within `onceInSeconds`, or a job under this `key` of a kind with one job per key. */
  async add(
    kind: JobPlaces,
    data: object = {},
    { onceInSeconds, key, owner }: { onceInSeconds?: number; key?: string; owner?: string } = {},
  ): Promise<string | null> {
    const boss = await this.#open();
    const once = onceInSeconds === undefined ? {} : { singletonSeconds: onceInSeconds };
    const keyed = key === undefined ? {} : { singletonKey: key };
    const id = await boss.send(kind.name, data, { group: { id: owner ?? kind.name }, ...once, ...keyed });
    // Other processes are notified. This one also starts at once if it cannot listen.
    if (id !== null) this.#wake(boss, kind.name);
    return id;
  }

  /** Running jobs are interrupted and retried, here or elsewhere. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.race([this.#stop(), sleep(this.#settings.clock, MAX_CLOSE_MS)]);
  }

  async #stop(): Promise<void> {
    for (const timer of this.#timers.splice(0)) timer.cancel();
    this.#workers.clear();
    const opening = this.#opening;
    this.#opening = null;
    try {
      await (await opening)?.stop({ graceful: false });
    } catch (error) {
      if (!(error instanceof DatabaseAway))
        this.#settings.log.warn({ err: error }, "the job queue did not stop cleanly");
    }
  }

  async #startWorking(kinds: readonly JobKind[]): Promise<void> {
    const { clock, log, lookSeconds = LOOK_SECONDS } = this.#settings;
    const backOff = new BackOff(1_000, 60_000);
    while (!this.#isClosed) {
      try {
        const boss = await this.#open();
        for (const kind of kinds) await this.#work(boss, kind);
        if (this.#isClosed) return;
        this.#timers.push(clock.every(lookSeconds * 1_000, () => void this.#lookForDue(boss)));
        return;
      } catch (error) {
        if (!this.#isClosed && !(error instanceof DatabaseAway))
          log.error(
            { err: error },
            `jobs cannot run: the database user needs the schema ${SCHEMA} and the right to create tables in it; trying again`,
          );
        // Interrupted work starts again.
        await this.#stop();
        await sleep(clock, backOff.next());
      }
    }
  }

  async #work(boss: PgBoss, kind: JobKind): Promise<void> {
    const { clock, log } = this.#settings;
    const workers: string[] = [];
    this.#workers.set(kind.name, workers);
    while (workers.length < kind.maxAtOnce && !this.#isClosed) workers.push(await this.#startWorker(boss, kind));
    const { everySeconds } = kind;
    if (everySeconds === undefined || this.#isClosed) return;
    const request = () => {
      this.add(kind, {}, { onceInSeconds: everySeconds }).catch((error: unknown) => {
        if (!this.#isClosed) log.error({ err: error, job: kind.name }, "a periodic job could not be queued");
      });
    };
    // More often than necessary, because the database may have been unavailable the last time.
    this.#timers.push(clock.every((everySeconds * 1_000) / 4, request));
    request();
  }

  async #startWorker(boss: PgBoss, kind: JobKind): Promise<string> {
    const { log } = this.#settings;
    const options = {
      pollingIntervalSeconds: WORKER_POLL_SECONDS,
      groupConcurrency: kind.maxPerOwner ?? kind.maxAtOnce,
    };
    const worker = await boss.work<object>(kind.name, options, async ([fetched]) => {
      if (!fetched) return;
      try {
        await kind.run(fetched);
      } catch (error) {
        if (!fetched.signal.aborted)
          log.warn(
            { err: error, job: kind.name, jobId: fetched.id },
            "a job failed; unless it has failed too often, it is retried",
          );
        throw error;
      } finally {
        // Another job may be waiting for this worker.
        boss.notifyWorker(worker);
      }
    });
    return worker;
  }

  #wake(boss: PgBoss, kind: string): void {
    for (const worker of this.#workers.get(kind) ?? []) boss.notifyWorker(worker);
  }

  /** Wake the workers for retries whose time has come, and for jobs whose notification was lost. */
  async #lookForDue(boss: PgBoss): Promise<void> {
    const { db, log } = this.#settings;
    try {
      const { rows } = await sql<{ name: string }>`
        select kind.name from unnest(${[...this.#workers.keys()]}::text[]) kind (name) where exists (
          select from ${sql.table(`${SCHEMA}.job`)} job
          where job.name = kind.name and job.state < 'active' and not job.blocked and job.start_after <= now()
        )`.execute(db);
      for (const { name } of rows) this.#wake(boss, name);
    } catch (error) {
      if (!(error instanceof DatabaseAway) && !this.#isClosed) log.warn({ err: error }, "could not look for due jobs");
    }
  }

  async #open(): Promise<PgBoss> {
    if (this.#isClosed) throw new Error("the job queue is closed");
    this.#opening ??= this.#openQueue().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #openQueue(): Promise<PgBoss> {
    const { db, channels, log, kinds, superviseSeconds = SUPERVISE_SECONDS } = this.#settings;
    // Loaded here, so that a process without jobs saves its 5 MB.
    const { PgBoss, fromKysely } = await import("pg-boss");
    const boss = new PgBoss({
      db: {
        ...fromKysely(db),
        listen: (channel, message, reconnected) => channels.listen(channel, { message, reconnected }),
      },
      schema: SCHEMA,
      schedule: false,
      useListenNotify: true,
      flowIntervalSeconds: FLOW_SECONDS,
      superviseIntervalSeconds: superviseSeconds,
      monitorIntervalSeconds: superviseSeconds,
      reindex: false,
      monitorVacuum: false,
    });
    // The pool logs once that the database is unavailable. The library reports copies of errors, which keep only their code.
    boss.on("error", (error: Error & { readonly code?: string }) => {
      if (!this.#isClosed && !isDatabaseAway(error)) log.warn({ err: error }, "job queue error");
    });
    try {
      await boss.start();
      for (const kind of kinds) await this.#create(boss, kind);
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => {});
      throw error;
    }
    return boss;
  }

  async #create(boss: PgBoss, kind: JobPlaces): Promise<void> {
    const options = {
      expireInSeconds: kind.maxSeconds,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      retryLimit: kind.maxRetries,
      retryDelay: kind.firstRetrySeconds ?? FIRST_RETRY_SECONDS,
      retryBackoff: true,
      retryDelayMax: MAX_RETRY_SECONDS,
      deleteAfterSeconds: KEEP_FINISHED_SECONDS,
      notify: true,
    };
    // The isolation between queues is fixed when a queue is created.
    await boss.createQueue(kind.name, kind.isOnePerKey ? { ...options, policy: "exclusive" } : options);
    // Another version may have created it.
    await boss.updateQueue(kind.name, options);
  }
}
