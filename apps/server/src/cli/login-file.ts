import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CliError } from "./exit-codes.ts";

/** The server that `weir login` chose, and the key for it. */
export interface Login {
  readonly server: string;
  readonly apiKey: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The folder of this program's own files. */
export function configFolder(env: Env): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), ".config"), "weir");
}

const pathIn = (env: Env): string => join(configFolder(env), "login.json");

/** Null if nobody logged in. */
export function readLogin(env: Env): Login | null {
  let text: string;
  try {
    text = readFileSync(pathIn(env), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new CliError(`cannot read ${pathIn(env)} (${(error as Error).message}): fix its mode, or run weir login`);
  }
  try {
    const { server, apiKey } = JSON.parse(text) as Partial<Login>;
    if (typeof server === "string" && typeof apiKey === "string") return { server, apiKey };
  } catch {}
  throw new CliError(`${pathIn(env)} is damaged: run weir login again`);
}

/** Replaces the previous login. Only its user may read the file. Returns its path. */
export function writeLogin(env: Env, login: Login): string {
  const path = pathIn(env);
  mkdirSync(configFolder(env), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(login)}\n`, { mode: 0o600 });
  renameSync(unfinished, path);
  return path;
}

/** No error without a login. */
export function removeLogin(env: Env): void {
  rmSync(pathIn(env), { force: true });
}
