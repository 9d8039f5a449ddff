import { ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { getCompileCacheDir } from "node:module";
import type { Socket } from "node:net";
import { dirname } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import { frameTaker } from "./pipe-frames.ts";
import { readInto } from "./read-into.ts";

const LOOK_MS = 1_000;
/** A child says something every second. One that says nothing for so many looks hangs, and is killed; a start may take longer. */
const MAX_SILENT_LOOKS = { atStart: 30, later: 10 };

export interface PipedProgram {
  readonly program: string;
  /** Words before it on the command line, which take rights from it. */
  readonly prefix?: readonly string[];
  /** Descriptors of this process that it gets, from 5 on. */
  readonly files?: readonly number[];
}

export interface PipedChild {
  readonly process: ChildProcess;
  readonly input: Writable;
  readonly output: Readable;
  /** Resolves when the process is gone, or was never there. */
  readonly ended: Promise<ProcessEnd>;
}

export interface ProcessEnd {
  /** Follows the name of the child in a sentence. */
  readonly reason: string;
  /** Null if it did not end by itself. */
  readonly code: number | null;
  readonly killedBy: NodeJS.Signals | null;
}

type Pipes = readonly [null?, null?, null?, Writable?, Readable?];

/**
 * Start a program of ours that talks over two pipes, 3 and 4. It gets nothing of this process's environment, which holds secrets. Two arenas of glibc's allocator save a
 * media process tens of megabytes.
 */
export function startPipedChild({ program, prefix = [], files = [] }: PipedProgram): PipedChild {
  const [command = process.execPath, ...args] = [...prefix, process.execPath, program];
  const { promise: ended, resolve } = Promise.withResolvers<ProcessEnd>();
  const failed = ({ message }: Error) => resolve({ reason: `does not start: ${message}`, code: null, killedBy: null });
  const child = spawned(
    command,
    args,
    {
      // A folder of ours may be hidden from it.
      cwd: "/",
      env: { PATH: process.env.PATH, MALLOC_ARENA_MAX: "2", ...(prefix.length === 0 && compiledCode()) },
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe", ...files],
    },
    failed,
  );
  // Not "once": a failed kill is reported as another error.
  child.on("error", failed);
  // Node makes no pipes where no file descriptor is left for them.
  const [, , , input = new PassThrough(), output = new PassThrough()] = (child.stdio ?? []) as Pipes;
  // Whoever reads to the end of it comes to one.
  if (output instanceof PassThrough) ended.then(() => output.end());
  // The end of the process follows a broken pipe, and tells.
  for (const pipe of [input, output]) pipe.on("error", () => {});
  // Not "exit": its last messages may still be in the pipe.
  child.once("close", (code, killedBy) =>
    resolve({ reason: `ended with ${killedBy ?? `code ${code}`}`, code, killedBy }),
  );
  return { process: child, input, output, ended };
}

/** Node reports only some failures of the system as events of a process. It throws others, such as ENOMEM: then this is a process that never was. */
function spawned(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
  failed: (error: Error) => void,
): ChildProcess {
  try {
    return spawn(command, args, options);
  } catch (error) {
    failed(error as Error);
    return new ChildProcess();
  }
}

/** Where a child finds its compiled code, and leaves it: half of what its start costs, and the compiler's memory. A confined child may neither read nor write it. */
function compiledCode(): { readonly NODE_COMPILE_CACHE?: string } {
  const folder = getCompileCacheDir();
  // Node adds the folder of its version and user itself.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}

export interface MessageTaker<Message> {
  /** Decodes what the child writes, in pieces of any size. Throws for bytes that no child of ours writes. */
  readonly read: (bytes: Uint8Array) => readonly Message[];
  readonly take: (message: Message) => void;
  readonly log: Log;
  /** The child's, in the log. */
  readonly name: string;
}

/** Pass on each message of the child. It is killed when one is unreadable. */
export function takeMessages<Message>(
  { process: child, output }: PipedChild,
  { read, take, log, name }: MessageTaker<Message>,
): void {
  output.on("data", (bytes: Uint8Array) => {
    try {
      for (const message of read(bytes)) take(message);
    } catch (error) {
      killUnreadable(child, error, { log, name });
    }
  });
}

function killUnreadable(
  child: ChildProcess,
  error: unknown,
  { log, name }: { readonly log: Log; readonly name: string },
) {
  log.error({ err: error, pid: child.pid }, `unreadable message from ${name}; killing it`);
  child.kill("SIGKILL");
}

export interface MessageViewer {
  /** Gets each message's bytes, which are valid until it returns. Throws for bytes that no child of ours writes. */
  readonly take: (body: Buffer) => void;
  readonly clock: Clock;
  readonly log: Log;
  /** The child's, in the log. */
  readonly name: string;
}

/**
 * As `takeMessages`, for a child whose messages are many and done with at once: they are read into one buffer. For the garbage collector, a buffer
 * for each read and one for each message cost more than what is done with them. Kills the child when it says nothing for 10 seconds, too.
 */
export function viewMessages(
  { process: child, output, ended }: PipedChild,
  { take, clock, log, name }: MessageViewer,
): void {
  const view = frameTaker(take);
  const heard = silenceWatch({ process: child, ended }, clock);
  readInto(output as Socket, (bytes) => {
    heard();
    try {
      view(bytes);
    } catch (error) {
      killUnreadable(child, error, { log, name });
    }
  });
}

/** Kill the child when it says nothing for 10 seconds. */
export function killSilent(child: PipedChild, clock: Clock): void {
  child.output.on("data", silenceWatch(child, clock));
}

/** Returns what to call whenever the child has said something. */
function silenceWatch({ process: child, ended }: Pick<PipedChild, "process" | "ended">, clock: Clock): () => void {
  let silentLooks = 0;
  let mostLooks = MAX_SILENT_LOOKS.atStart;
  // Counted in looks: after a time in which this process hung itself, it reads what the child wrote before it looks again.
  const watch = clock.every(LOOK_MS, () => {
    if (++silentLooks > mostLooks) child.kill("SIGKILL");
  });
  ended.then(() => watch.cancel());
  return () => {
    silentLooks = 0;
    mostLooks = MAX_SILENT_LOOKS.later;
  };
}

/** Kill a child and wait until it is gone. */
export async function killed({ process: child, ended }: PipedChild): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}
