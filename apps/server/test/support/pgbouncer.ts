import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { vi } from "vitest";
import { freePort } from "./weir-process.ts";

const BINARY = process.env.WEIR_TEST_PGBOUNCER ?? "/usr/sbin/pgbouncer";
/** pgbouncer refuses to run as root. */
const ACCOUNT = "postgres";

/** Null if pgbouncer is installed, else what to install. */
export const missingPgbouncer: string | null = existsSync(BINARY)
  ? null
  : `there is no ${BINARY}: apt-get install pgbouncer, or name the program in WEIR_TEST_PGBOUNCER`;

export interface PgbouncerTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

/** The distribution's pgbouncer in transaction mode, in front of a PostgreSQL that asks for no password. */
export class Pgbouncer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#child = child;
  }

  /** `serverConnections`: how many it opens at most. */
  static async start(target: PgbouncerTarget, serverConnections: number): Promise<Pgbouncer> {
    if (missingPgbouncer !== null) throw new Error(missingPgbouncer);
    const folder = await mkdtemp(join(tmpdir(), "weir-pgbouncer-"));
    const port = await freePort();
    const { host, port: serverPort, user, database } = target;
    const users = join(folder, "users.txt");
    const settings = join(folder, "pgbouncer.ini");
    await writeFile(users, `"${user}" ""\n`);
    await writeFile(
      settings,
      `[databases]
${database} = host=${host} port=${serverPort} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 500
`,
    );
    await Promise.all([chmod(folder, 0o755), chmod(users, 0o644), chmod(settings, 0o644)]);
    const as = process.getuid?.() === 0 ? ["-u", ACCOUNT] : [];
    const child = spawn(BINARY, ["-q", ...as, settings], { stdio: ["ignore", "ignore", "inherit"] });
    const pooler = new Pgbouncer(port, folder, child);
    try {
      await vi.waitUntil(() => child.exitCode !== null || isOpen(port), { timeout: 10_000, interval: 50 });
      if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`);
      return pooler;
    } catch (error) {
      await pooler[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const exited = once(this.#child, "exit");
      this.#child.kill("SIGKILL");
      await exited;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).then((open) => {
    socket.destroy();
    return open === true;
  });
}
