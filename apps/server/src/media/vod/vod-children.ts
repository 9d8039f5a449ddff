import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../platform/clock.ts";
import { type Confinement, UNCONFINED } from "../../platform/confinement/confinement.ts";
import { CannotCopy, FileRefused } from "./refusal.ts";
import { type FramedMessage, MAX_JOBS, readMessages, SOURCES_PER_JOB, type VodJob } from "./vod-protocol.ts";

const CHILD = fileURLToPath(new URL("./vod-child.ts", import.meta.url));
/** A child tells its progress every second or so, on a machine that has time for it. */
const MAX_SILENCE_MS = 180_000;
/** Of one job: a scan of the largest file, or a chunk of the slowest one. */
const MAX_JOB_MS = 3 * 3_600_000;

/** A child that ends by one of these met something in the file that its libraries do not survive, and will again. */
const BREAKDOWNS: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGSEGV", "SIGFPE", "SIGILL", "SIGBUS", "SIGABRT"]);

/** The child ended without an answer, or was killed. It may go well another time. */
export class ChildFailed extends Error {
  override readonly name = "ChildFailed";
}

export type OnVodMessage = (framed: FramedMessage) => Promise<void> | void;

/** Starts children that are confined as decoders of live streams are, and have one file alone. */
export class VodChildren {
  readonly #clock: Clock;
  readonly #confinement: Confinement;

  constructor(clock: Clock, confinement: Confinement = UNCONFINED) {
    this.#clock = clock;
    this.#confinement = confinement;
  }

  /** Children for the file at `path`, of which they get no more than open descriptors. */
  of(path: string): FileChildren {
    return new FileChildren(() => VodChild.start(path, this.#clock, this.#confinement));
  }
}

/** Runs jobs on one file. A child that is done is kept for the next job: starting another takes 0.3 s of CPU. */
export class FileChildren implements AsyncDisposable {
  readonly #start: () => Promise<VodChild>;
  readonly #idle: VodChild[] = [];

  constructor(start: () => Promise<VodChild>) {
    this.#start = start;
  }

  /** Resolves when the job is done. A child waits while `onMessage` does. Throws `FileRefused`, `CannotCopy` and `ChildFailed`. */
  async run(job: VodJob, onMessage: OnVodMessage, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const child = this.#idle.pop() ?? (await this.#start());
    try {
      await child.run(job, onMessage, signal);
    } catch (error) {
      await child.end();
      throw error;
    }
    if (child.takesMore) this.#idle.push(child);
    else await child.end();
  }

  /** End the children that have no job. */
  async rest(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((child) => child.end()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rest();
  }
}

/** A process that does one job after another on its file. */
class VodChild {
  readonly #process: ChildProcess;
  readonly #clock: Clock;
  readonly #messages: AsyncGenerator<FramedMessage, void>;
  readonly #ended: Promise<{ readonly reason: string; readonly killedBy: NodeJS.Signals | null }>;
  #jobs = 0;

  private constructor(child: ChildProcess, clock: Clock) {
    this.#process = child;
    this.#clock = clock;
    this.#ended = new Promise((resolve) => {
      child.once("error", ({ message }) =>
        resolve({ reason: `cannot start a media child: ${message}`, killedBy: null }),
      );
      child.once("close", (code, killedBy) =>
        resolve({ reason: `the media child ended with ${killedBy ?? `code ${code}`}`, killedBy }),
      );
    });
    for (const pipe of [this.#input, this.#output]) pipe.on("error", () => {}); // its end tells
    this.#messages = readMessages(this.#output);
  }

  static async start(path: string, clock: Clock, { prefix }: Confinement): Promise<VodChild> {
    const sources: FileHandle[] = [];
    try {
      for (let n = 0; n < MAX_JOBS * SOURCES_PER_JOB; n++)
        sources.push(await open(path, constants.O_RDONLY | constants.O_NOFOLLOW));
      const [program = process.execPath, ...args] = [...prefix, process.execPath, CHILD];
      const child = spawn(program, args, {
        cwd: "/",
        env: { PATH: process.env.PATH, MALLOC_ARENA_MAX: "2" },
        stdio: ["ignore", "ignore", "ignore", "pipe", "pipe", ...sources.map(({ fd }) => fd)],
      });
      return new VodChild(child, clock);
    } finally {
      for (const source of sources) await source.close();
    }
  }

  get takesMore(): boolean {
    return this.#jobs < MAX_JOBS;
  }

  async run(job: VodJob, onMessage: OnVodMessage, signal: AbortSignal): Promise<void> {
    const kill = (): void => {
      this.#process.kill("SIGKILL");
    };
    if (signal.aborted) kill();
    signal.addEventListener("abort", kill, { once: true });
    const life = this.#clock.after(MAX_JOB_MS, kill);
    let silence = this.#clock.after(MAX_SILENCE_MS, kill);
    this.#jobs++;
    try {
      this.#input.write(`${JSON.stringify(job)}\n`);
      for (;;) {
        const { value: framed } = await this.#messages.next();
        silence.cancel();
        if (!framed) throw await this.#failure(signal);
        const { message } = framed;
        if (message.type === "refused") throw new FileRefused(message.sentence);
        if (message.type === "cannot-copy") throw new CannotCopy(message.reason);
        await onMessage(framed);
        if (message.type === "scanned" || message.type === "encoded") return;
        silence = this.#clock.after(MAX_SILENCE_MS, kill);
      }
    } finally {
      life.cancel();
      silence.cancel();
      signal.removeEventListener("abort", kill);
    }
  }

  /** Resolves when the process is gone. */
  async end(): Promise<void> {
    this.#process.kill("SIGKILL");
    // It counts as ended when its pipes are: what nobody reads any more must not keep one open.
    this.#output.destroy();
    await this.#ended;
  }

  get #input(): Writable {
    return this.#process.stdio[3] as Writable;
  }

  get #output(): Readable {
    return this.#process.stdio[4] as Readable;
  }

  async #failure(signal: AbortSignal): Promise<unknown> {
    const { reason, killedBy } = await this.#ended;
    if (signal.aborted) return signal.reason;
    if (!BREAKDOWNS.has(killedBy)) return new ChildFailed(reason);
    return new FileRefused(
      `The decoder broke down over this file (${killedBy}): it is damaged. Export it again with H.264 and AAC.`,
    );
  }
}
