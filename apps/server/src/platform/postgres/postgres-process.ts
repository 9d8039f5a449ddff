import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Duplex } from "node:stream";
import type { Clock } from "../clock.ts";
import { until } from "../retry.ts";
import type { PostgresUser } from "./postgres-user.ts";

/**
 * The shell waits in the background on a pipe from this process, and becomes the program in the foreground with the same process id. A line on
 * the pipe says that all is well. The end of the pipe means that this process is gone, for whatever reason, and the program is told to shut
 * down.
 */
const OUTLIVES_NOBODY = '{ read -r _ <&3 || kill -INT $$; } >/dev/null 2>&1 & exec "$@" 3<&- </dev/null';

/** PostgreSQL's three ways to stop: roll back and checkpoint; drop everything and recover at the next start; and not at all. */
const STOP_STEPS = [
  ["SIGINT", 5_000],
  ["SIGQUIT", 2_000],
  ["SIGKILL", 1_000],
] as const;

/** One run of one of PostgreSQL's programs. `exited` resolves and never rejects. */
export interface PostgresProcess {
  readonly exited: Promise<number | null>;
  stop(clock: Clock): Promise<void>;
}

export interface PostgresCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly user: PostgresUser;
  /** Every line that the program writes, on either output. */
  readonly onLine: (line: string) => void;
}

/** Start a program that ends with this process. */
export function startPostgresProcess({ program, args, env, user, onLine }: PostgresCommand): PostgresProcess {
  const { prefix, ...identity } = user;
  const child = spawn("/bin/sh", ["-c", OUTLIVES_NOBODY, "sh", ...prefix, program, ...args], {
    ...identity,
    // A process group of its own: Ctrl-C at the terminal reaches only this process, and the database stops last.
    detached: true,
    cwd: "/",
    env: { PATH: process.env.PATH, LC_ALL: "C", TZ: "UTC", ...env },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => {
    child.on("error", (error) => {
      onLine(`FATAL:  ${error.message}`);
      resolve(null);
    });
    child.once("exit", (code) => {
      lifeline?.end("exited\n");
      resolve(code);
    });
  });
  for (const output of [child.stdout, child.stderr]) if (output) createInterface({ input: output }).on("line", onLine);
  // Node makes no pipes where no file descriptor is left for them.
  const lifeline = child.stdio?.[3] as Duplex | undefined;
  lifeline?.on("error", () => {});
  return {
    exited,
    stop: (clock) =>
      stopInSteps(
        clock,
        (signal) => child.kill(signal),
        () => hasExited(child),
      ),
  };
}

/** Stop with increasingly hard signals, until `isGone` or none is left. */
export async function stopInSteps(
  clock: Clock,
  send: (signal: NodeJS.Signals) => void,
  isGone: () => boolean,
): Promise<void> {
  for (const [signal, waitMs] of STOP_STEPS) {
    if (isGone()) return;
    send(signal);
    if (await until(clock, waitMs, isGone)) return;
  }
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}
