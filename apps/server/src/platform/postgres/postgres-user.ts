import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { whoami } from "../data-folder.ts";
import { StartupError } from "../startup-error.ts";

/**
 * How to start PostgreSQL's programs, which refuse to run as root. An ordinary user starts them directly. Root starts them in a user namespace
 * that maps root to another id, so that files stay root's, and folders with mode 0700 above them do not matter. Where that is forbidden (in most
 * containers), root starts them as the user `nobody`, who then owns the files.
 */
export interface PostgresUser {
  readonly prefix: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
}

const NOBODY = 65_534;
const USER_NAMESPACE = ["unshare", "--user", "--map-user=1000", "--map-group=1000"];

/** The user that runs PostgreSQL on `clusterFolder`, which may not exist yet. Throws `StartupError` if the folder belongs to another user. */
export function choosePostgresUser(clusterFolder: string): PostgresUser {
  const owner = existsSync(clusterFolder) ? statSync(clusterFolder) : null;
  const own = process.getuid?.();
  if (own !== 0) {
    if (owner && owner.uid !== own) throw foreignOwner(clusterFolder, owner.uid);
    return { prefix: deathSignal() };
  }
  if (owner && owner.uid !== 0) return { prefix: deathSignal(), uid: owner.uid, gid: owner.gid };
  if (isRunnable(USER_NAMESPACE)) return { prefix: [...USER_NAMESPACE, ...deathSignal()] };
  if (owner) {
    throw new StartupError(
      `PostgreSQL refuses to run as root and user namespaces are not allowed here: give ${clusterFolder} to an ordinary user and start Weir as that user`,
    );
  }
  return { prefix: deathSignal(), uid: NOBODY, gid: NOBODY };
}

/** Only Linux can have the kernel signal a child whose parent died; elsewhere the pipe in `postgres-process.ts` does it. */
function deathSignal(): string[] {
  const prefix = ["setpriv", "--pdeathsig", "INT"];
  return process.platform === "linux" && isRunnable(prefix) ? prefix : [];
}

function isRunnable([program = "", ...args]: readonly string[]): boolean {
  return spawnSync(program, [...args, "true"], { stdio: "ignore" }).status === 0;
}

function foreignOwner(folder: string, uid: number): StartupError {
  return new StartupError(
    `${folder} belongs to user ${uid} and Weir runs as ${whoami()} (${userInfo().username}): start Weir as its owner, or change the owner of the data folder`,
  );
}
