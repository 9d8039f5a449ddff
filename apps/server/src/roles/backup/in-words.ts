import pg from "pg";
import { StartupError } from "../../platform/startup-error.ts";
import { StoreFailed } from "../../platform/storage/store-failed.ts";

/** Of SQLite: the disk of an index is full. */
const SQLITE_FULL = 13;
const NO_ROOM = new Set(["ENOSPC", "EDQUOT"]);
const LOST = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENOTFOUND", "ENOENT"]);

/**
 * Fails with a sentence where a disk, the database or the bucket ended a copy, which the next run goes on with. Anything else is a bug, and stays as it
 * is.
 */
export function inWords(command: string): (error: unknown) => never {
  return (error) => {
    const sentence = error instanceof StartupError ? null : sentenceOf(error);
    if (sentence === null) throw error;
    throw new StartupError(`${sentence}, then repeat ${command}, which goes on where it stopped`);
  };
}

function sentenceOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const { message } = error;
  if (error instanceof StoreFailed) return `${message}: ${remedyFor(error)}`;
  if (error instanceof pg.DatabaseError)
    return `the database refused (${error.code} ${message}): ${error.code === "53100" ? "make room on its disk" : "see to it"}`;
  const { code, errcode, path } = error as NodeJS.ErrnoException & { errcode?: number };
  if (NO_ROOM.has(code ?? "") || errcode === SQLITE_FULL)
    return `no space left on the disk${path ? ` of ${path}` : ""}: make room there`;
  const isLost = message.startsWith("Connection terminated") || (LOST.has(code ?? "") && path === undefined);
  return isLost ? `the connection to the database was lost (${message}): see weir doctor` : null;
}

function remedyFor({ status, code, isTemporary }: StoreFailed): string {
  if (status === 507 || /Full|Quota/i.test(code)) return "make room in the bucket, or raise its quota";
  if (isTemporary) return "see that it can be reached";
  return "check WEIR_S3_…, what its access key may do, and this machine's clock";
}
