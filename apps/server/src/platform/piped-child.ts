import { type ChildProcess, spawn } from "node:child_process";
import type { Duplex, Readable, Writable } from "node:stream";

export interface PipedChild<Message> {
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
export function startPipedChild<Message>({ program, read, take, unreadable, ended }: PipedChild<Message>): {
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
  output.on("data", (bytes: Uint8Array) => {
    try {
      for (const message of read(bytes)) take(message);
    } catch (error) {
      unreadable(error);
      child.kill("SIGKILL");
    }
  });
  child.on("error", (error) => ended(`cannot start: ${error.message}`));
  child.once("close", (code, signal) => ended(`ended with ${signal ?? `code ${code}`}`));
  return { child, input };
}

/** Kill a child and wait until it is gone. */
export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await gone;
}
