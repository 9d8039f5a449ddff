import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { WeirServer } from "./weir-server.ts";

const WEIR = fileURLToPath(new URL("../../bin/weir", import.meta.url));

/** A command that runs, or has run. */
export interface WeirCommand {
  readonly child: ChildProcess;
  /** So far. */
  readonly out: () => string;
  readonly err: () => string;
  /** Null if a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** Starts the command line as a shell does, with `env` and nothing else of this process. */
export function startWeir(args: readonly string[], env: Readonly<Record<string, string>>, input = ""): WeirCommand {
  const child = spawn(WEIR, args, { env: { PATH: process.env.PATH ?? "", ...env }, stdio: ["pipe", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => {
    out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    err += chunk;
  });
  child.stdin.end(input);
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, out: () => out, err: () => err, exited };
}

/** Runs a command to its end. */
export async function runWeir(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const { exited, out, err } = startWeir(args, env, input);
  const code = await exited;
  return { code, out: out(), err: err() };
}

/** The environment of somebody who works with this server. `home` holds their login. */
export function environmentOf(weir: WeirServer, home: string): Record<string, string> {
  return { WEIR_URL: weir.url, WEIR_API_KEY: weir.apiKey, XDG_CONFIG_HOME: home };
}
