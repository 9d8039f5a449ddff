import { chmodSync, chownSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { openRunFolder } from "../data-folder.ts";
import { takeLock } from "../folder-lock.ts";
import type { Log } from "../log.ts";
import { BackOff, sleep } from "../retry.ts";
import { StartupError } from "../startup-error.ts";
import { createCluster, explainFailure, MAJOR_VERSION, SUPERUSER } from "./postgres-cluster.ts";
import { clusterName, stopOrphan } from "./postgres-orphan.ts";
import { findPostgresPackage, type PostgresPackage } from "./postgres-package.ts";
import { type PostgresProcess, startPostgresProcess } from "./postgres-process.ts";
import { choosePostgresUser, type PostgresUser } from "./postgres-user.ts";

const PORT = 5432;
/** Recovery after a crash reads at most what `max_wal_size` allows to accumulate. */
const READY_WITHIN_MS = 60_000;
const STABLE_AFTER_MS = 60_000;
const LINES_KEPT = 50;

const SETTINGS = {
  listen_addresses: "",
  port: String(PORT),
  max_connections: "60",
  shared_buffers: "64MB",
  max_wal_size: "256MB",
  // Disables the I/O worker processes of PostgreSQL 18, which at this size only cost memory.
  io_method: "sync",
  unix_socket_permissions: "0700",
  log_line_prefix: "",
  log_checkpoints: "off",
};

/** The address of a PostgreSQL server, as `pg` takes it. */
export interface PostgresAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** A running embedded PostgreSQL. It restarts with back-off when it dies; meanwhile `isRunning` is false. */
export interface EmbeddedPostgres {
  readonly address: PostgresAddress;
  isRunning(): boolean;
  close(): Promise<void>;
}

export interface EmbeddedPostgresSettings {
  readonly dataFolder: string;
  /** 60 by default, of which a process of Weir takes at most 19. */
  readonly maxConnections?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Start PostgreSQL on `{data}/pg/18`, creating it if necessary, on a unix socket only. Throws `StartupError` if the folder is in use or belongs
 * to another user, the disk is full, or this machine has no PostgreSQL package.
 */
export async function startEmbeddedPostgres(settings: EmbeddedPostgresSettings): Promise<EmbeddedPostgres> {
  const cluster = join(settings.dataFolder, "pg", MAJOR_VERSION);
  const user = choosePostgresUser(cluster);
  const runFolder = openRunFolder(settings.dataFolder);
  const lock = await takeLock(join(settings.dataFolder, "postgres.lock"));
  if (!lock) {
    throw new StartupError(
      `another Weir runs on the data folder ${settings.dataFolder}: stop it, or set WEIR_DATA_DIR to another folder`,
    );
  }
  try {
    if (user.uid !== undefined && user.gid !== undefined) {
      chownSync(runFolder, user.uid, user.gid);
      // PostgreSQL's user must be able to traverse root's folder to its own; the names in it stay hidden.
      chmodSync(settings.dataFolder, 0o711);
    }
    const programs = findPostgresPackage(join(runFolder, "lib"));
    await stopOrphan(cluster, join(runFolder, `.s.PGSQL.${PORT}.lock`), settings.clock);
    await createCluster(cluster, programs, user);
    const server = new Supervisor(cluster, runFolder, programs, user, settings);
    await server.start();
    return {
      address: embeddedAddress(settings.dataFolder),
      isRunning: () => server.isRunning,
      async close() {
        await server.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Where the embedded database of a data folder listens while it runs. */
export function embeddedAddress(dataFolder: string): PostgresAddress {
  return { host: openRunFolder(dataFolder), port: PORT, user: SUPERUSER, database: "postgres" };
}

class Supervisor {
  isRunning = false;
  readonly #cluster: string;
  readonly #programs: PostgresPackage;
  readonly #user: PostgresUser;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #args: readonly string[];
  readonly #backOff = new BackOff(200, 10_000);
  #process: PostgresProcess | null = null;
  #closing: Promise<void> | null = null;

  constructor(
    cluster: string,
    runFolder: string,
    programs: PostgresPackage,
    user: PostgresUser,
    { clock, log, maxConnections }: EmbeddedPostgresSettings,
  ) {
    this.#cluster = cluster;
    this.#programs = programs;
    this.#user = user;
    this.#clock = clock;
    this.#log = log;
    const options = Object.entries({
      ...SETTINGS,
      ...(maxConnections !== undefined && { max_connections: String(maxConnections) }),
      unix_socket_directories: runFolder,
      cluster_name: clusterName(cluster),
    });
    this.#args = ["-D", cluster, ...options.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  }

  /** Resolves when the server accepts connections. */
  async start(): Promise<void> {
    const lines: string[] = [];
    let ready = () => {};
    const isReady = new Promise<true>((resolve) => {
      ready = () => resolve(true);
    });
    const run = startPostgresProcess({
      program: this.#programs.postgres,
      args: this.#args,
      env: this.#programs.env,
      user: this.#user,
      onLine: (line) => {
        lines.push(line);
        if (lines.length > LINES_KEPT) lines.shift();
        if (line.includes("database system is ready to accept connections")) ready();
        this.#logLine(line);
      },
    });
    this.#process = run;
    const timeout = sleep(this.#clock, READY_WITHIN_MS).then(() => false);
    if (!(await Promise.race([isReady, timeout, run.exited.then(() => false)]))) {
      await run.stop(this.#clock);
      throw explainFailure(this.#cluster, lines);
    }
    this.isRunning = true;
    const since = this.#clock.monotonic();
    void run.exited.then(() => {
      if (this.#clock.monotonic() - since > STABLE_AFTER_MS) this.#backOff.reset();
      return this.#restart();
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#process?.stop(this.#clock) ?? Promise.resolve();
    return this.#closing;
  }

  async #restart(): Promise<void> {
    this.isRunning = false;
    while (!this.#closing && !this.isRunning) {
      const waitMs = this.#backOff.next();
      this.#log.error({ waitMs }, "the database crashed; restarting it");
      await sleep(this.#clock, waitMs);
      if (this.#closing) return;
      await this.start().catch((error: Error) => this.#log.error(error.message));
    }
  }

  #logLine(line: string): void {
    // While stopping, PostgreSQL reports a fatal error for every connection that it ends.
    const isFailure = /^(FATAL|PANIC):/.test(line) && !this.#closing;
    const level = isFailure ? "error" : line.startsWith("WARNING:") ? "warn" : "debug";
    this.#log[level](`postgres: ${line.slice(0, 500)}`);
  }
}
