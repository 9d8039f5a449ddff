import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex, Readable, Writable } from "node:stream";
import type { Clock } from "./clock.ts";

const LOOK_MS = 1_000;
/** A child says something every second. One that says nothing for so many looks hangs, and is killed; a start may take longer. */
const MAX_SILENT_LOOKS = { atStart: 30, later: 10 };

export interface PipedChild<Message> {
  readonly clock: Clock;
  readonly program: string;
  /** Decodes what the child writes, in pieces of any size. Throws for bytes that no child of ours writes. */
  readonly read: (bytes: Uint8Array) => readonly Message[];
  readonly take: (message: Message) => void;
  /** What the child wrote is not readable; it has been killed, and `ended` follows. */
  readonly unreadable: (error: unknown) => void;
  /** Once or twice: it could not be started, or is gone. */
  readonly ended: (why: string) => void;
}

/**
 * Start a program of ours that talks over two pipes, 3 and 4. It gets nothing of this process's environment, which holds secrets. Two arenas of glibc's allocator save a
 * media process tens of megabytes.
 */
export function startPipedChild<Message>({ clock, program, read, take, unreadable, ended }: PipedChild<Message>): {
  readonly child: ChildProcess;
  readonly input: Writable;
} {
  const child = spawn(process.execPath, [program], {
    cwd: "/",
    env: { PATH: process.env.PATH, MALLOC_ARENA_MAX: "2" },
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const [, , , input, output] = child.stdio as [null, null, null, Duplex, Readable];
  // The end of the process follows a broken pipe, and tells.
  input.on("error", () => {});
  output.on("error", () => {});
  let silentLooks = 0;
  let mostLooks = MAX_SILENT_LOOKS.atStart;
  // Counted in looks: after a time in which this process hung itself, it reads what the child wrote before it looks again.
  const watch = clock.every(LOOK_MS, () => {
    if (++silentLooks > mostLooks) child.kill("SIGKILL");
  });
  output.on("data", (bytes: Uint8Array) => {
    silentLooks = 0;
    mostLooks = MAX_SILENT_LOOKS.later;
    try {
      for (const message of read(bytes)) take(message);
    } catch (error) {
      unreadable(error);
      child.kill("SIGKILL");
    }
  });
  child.on("error", (error) => {
    watch.cancel();
    ended(`cannot start: ${error.message}`);
  });
  child.once("close", (code, signal) => {
    watch.cancel();
    ended(`ended with ${signal ?? `code ${code}`}`);
  });
  return { child, input };
}

/** Kill a child and wait until it is gone. */
export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await gone;
}
