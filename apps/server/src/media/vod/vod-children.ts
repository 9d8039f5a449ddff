import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../platform/clock.ts";
import { type Confinement, UNCONFINED } from "../../platform/confinement/confinement.ts";
import { CannotCopy, FileRefused } from "./refusal.ts";
import { type FramedMessage, readMessages, type VodJob } from "./vod-protocol.ts";

const CHILD = fileURLToPath(new URL("./vod-child.ts", import.meta.url));
/** A child tells its progress every second or so, on a machine that has time for it. */
const MAX_SILENCE_MS = 180_000;
/** Of one job: a scan of the largest file, or a chunk of the slowest one. */
const MAX_LIFE_MS = 3 * 3_600_000;

/** A child that ends by one of these met something in the file that its libraries do not survive, and will again. */
const BREAKDOWNS: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGSEGV", "SIGFPE", "SIGILL", "SIGBUS", "SIGABRT"]);

/** The child ended without an answer, or was killed. It may go well another time. */
export class ChildFailed extends Error {
  override readonly name = "ChildFailed";
}

export type OnVodMessage = (framed: FramedMessage) => Promise<void> | void;

/** Runs jobs on files in children that are confined as decoders of live streams are, and have the file alone. */
export class VodChildren {
  readonly #clock: Clock;
  readonly #confinement: Confinement;

  constructor(clock: Clock, confinement: Confinement = UNCONFINED) {
    this.#clock = clock;
    this.#confinement = confinement;
  }

  /** One job on the file at `path`, of which the child gets no more than open descriptors. A child waits while `onMessage` does. Throws `FileRefused`, `CannotCopy` and `ChildFailed`. */
  async run(job: VodJob, path: string, onMessage: OnVodMessage, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    // Each has a place in the file of its own, and a job reads it twice at most.
    await using first = await openToRead(path);
    await using second = await openToRead(path);
    const [program = process.execPath, ...args] = [...this.#confinement.prefix, process.execPath, CHILD];
    const child = spawn(program, args, {
      cwd: "/",
      env: { PATH: process.env.PATH, MALLOC_ARENA_MAX: "2" },
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe", first.fd, second.fd],
    });
    const kill = (): void => {
      child.kill("SIGKILL");
    };
    const ended = new Promise<{ reason: string; killedBy: NodeJS.Signals | null }>((resolve) => {
      child.once("error", ({ message }) =>
        resolve({ reason: `cannot start a media child: ${message}`, killedBy: null }),
      );
      child.once("close", (code, killedBy) =>
        resolve({ reason: `the media child ended with ${killedBy ?? `code ${code}`}`, killedBy }),
      );
    });
    const input = child.stdio[3] as Writable;
    const output = child.stdio[4] as Readable;
    input.on("error", () => {}); // its exit tells
    output.on("error", () => {});
    signal.addEventListener("abort", kill, { once: true });
    const life = this.#clock.after(MAX_LIFE_MS, kill);
    let silence = this.#clock.after(MAX_SILENCE_MS, kill);
    let isDone = false;
    try {
      input.end(JSON.stringify(job));
      for await (const framed of readMessages(output)) {
        silence.cancel();
        const { message } = framed;
        if (message.type === "refused") throw new FileRefused(message.sentence);
        if (message.type === "cannot-copy") throw new CannotCopy(message.reason);
        isDone ||= message.type === "scanned" || message.type === "encoded";
        await onMessage(framed);
        silence = this.#clock.after(MAX_SILENCE_MS, kill);
      }
      const { reason, killedBy } = await ended;
      signal.throwIfAborted();
      if (!isDone && BREAKDOWNS.has(killedBy))
        throw new FileRefused(
          `The decoder broke down over this file (${killedBy}): it is damaged. Export it again with H.264 and AAC.`,
        );
      if (!isDone) throw new ChildFailed(reason);
    } finally {
      kill();
      life.cancel();
      silence.cancel();
      signal.removeEventListener("abort", kill);
    }
  }
}

function openToRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}
