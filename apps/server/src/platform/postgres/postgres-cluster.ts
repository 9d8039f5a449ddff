import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StartupError } from "../startup-error.ts";
import type { PostgresPackage } from "./postgres-package.ts";
import { startPostgresProcess } from "./postgres-process.ts";
import type { PostgresUser } from "./postgres-user.ts";

/** The version of the npm packages. Data of another major version must be exported and imported. */
export const MAJOR_VERSION = "18";
export const SUPERUSER = "weir";
/** Each waits 100 ms longer than the one before. */
const REMOVAL_RETRIES = 5;

/** Create the cluster folder with `initdb` if it does not exist. It appears complete or not at all. */
export async function createCluster(cluster: string, programs: PostgresPackage, user: PostgresUser): Promise<void> {
  if (existsSync(cluster)) return checkVersion(cluster);
  refuseBesideAnother(dirname(cluster));
  mkdirSync(dirname(cluster), { recursive: true, mode: 0o700 });
  removeUnfinished(cluster);
  // A folder that no other start uses: after a kill, an initdb ends a moment later, and removes what it finds in its own.
  const unfinished = mkdtempSync(`${unfinishedOf(cluster)}-`);
  if (user.uid !== undefined && user.gid !== undefined) {
    for (const folder of [dirname(cluster), unfinished]) chownSync(folder, user.uid, user.gid);
  }
  await initdb(unfinished, programs, user);
  renameSync(unfinished, cluster);
}

const unfinishedOf = (cluster: string): string => `${cluster}.unfinished`;

/** What killed starts left. Their programs may still be adding files. */
function removeUnfinished(cluster: string): void {
  const name = basename(unfinishedOf(cluster));
  const left = readdirSync(dirname(cluster)).filter((entry) => entry.startsWith(name));
  for (const entry of left)
    rmSync(join(dirname(cluster), entry), { recursive: true, force: true, maxRetries: REMOVAL_RETRIES });
}

async function initdb(folder: string, programs: PostgresPackage, user: PostgresUser): Promise<void> {
  const lines: string[] = [];
  const args = [
    ...["-D", folder, "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-instructions"],
    // Containers have 64 MB in /dev/shm, or none.
    ...["-c", "dynamic_shared_memory_type=mmap"],
    // One call for the whole file system instead of a thousand fsyncs.
    ...(process.platform === "linux" ? ["--sync-method=syncfs"] : []),
  ];
  const run = startPostgresProcess({
    program: programs.initdb,
    args,
    env: programs.env,
    user,
    onLine: (line) => lines.length < 200 && lines.push(line),
  });
  const code = await run.exited;
  if (code !== 0) throw explainFailure(folder, lines);
}

/** A new, empty database next to the data of another version would look like total data loss. */
function refuseBesideAnother(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const other = names.find((name) => /^\d+$/.test(name) && existsSync(join(folder, name, "PG_VERSION")));
  if (other) throw otherVersion(join(folder, other), other);
}

function checkVersion(cluster: string): void {
  const version = readFileSync(join(cluster, "PG_VERSION"), "utf8").trim();
  if (version !== MAJOR_VERSION) throw otherVersion(cluster, version);
}

function otherVersion(cluster: string, version: string): StartupError {
  return new StartupError(
    `${cluster} holds a database of PostgreSQL ${version} and this Weir brings ${MAJOR_VERSION}: start it with the Weir that made it, or move its data with pg_dump`,
  );
}

/** The reason why PostgreSQL stopped, in one line, from its last output. */
export function explainFailure(folder: string, lines: readonly string[]): StartupError {
  const text = lines.join("\n");
  if (/No space left on device/.test(text))
    return new StartupError(`no space for the database in ${folder}: make room or set WEIR_DATA_DIR`);
  if (/(initdb|postgres)"?: (not found|No such file or directory)/.test(text)) {
    return new StartupError(
      "the embedded PostgreSQL needs glibc, and this system has another C library (musl, as in Alpine Linux): set DATABASE_URL",
    );
  }
  if (/lock file "postmaster.pid" already exists/.test(text)) {
    return new StartupError(
      `the database in ${folder} is used by another server: stop it, or set WEIR_DATA_DIR to another folder`,
    );
  }
  if (/Permission denied/.test(text) && process.getuid?.() === 0) {
    return new StartupError(
      `PostgreSQL refuses to run as root, and the user it runs as cannot reach ${folder} or its own programs: start Weir as an ordinary user`,
    );
  }
  const reason = lines.findLast((line) => /(FATAL|PANIC|error):/.test(line)) ?? lines.at(-1) ?? "it said nothing";
  return new StartupError(`the embedded PostgreSQL did not start on ${folder}: ${reason.replace(/^\w+: +/, "")}`);
}
