import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../platform/clock.ts";
import { type Confinement, UNCONFINED } from "../../platform/confinement/confinement.ts";
import { messageFrame } from "../../platform/pipe-frames.ts";
import { killed, type PipedChild, startPipedChild } from "../../platform/piped-child.ts";
import { ProcessingBroke } from "../../ports/index.ts";
import { CannotCopy, FileRefused } from "./refusal.ts";
import { type FramedMessage, MAX_JOBS, readMessages, SOURCES_PER_JOB, type VodJob } from "./vod-protocol.ts";

const CHILD = fileURLToPath(new URL("./vod-child.ts", import.meta.url));
/** A working child reports progress about once a second, more rarely under load. */
const MAX_SILENCE_MS = 180_000;
/** Time limit of one job: a scan of the largest file, or the slowest chunk. */
const MAX_JOB_MS = 3 * 3_600_000;

/** A child killed by one of these signals crashed on the file's content, and would crash again. */
const BREAKDOWNS: ReadonlySet<NodeJS.Signals | null> = new Set(["SIGSEGV", "SIGFPE", "SIGILL", "SIGBUS", "SIGABRT"]);

/** The child ended without a result or was killed. A retry may succeed. */
export class ChildFailed extends ProcessingBroke {
  override readonly name = "ChildFailed";
}

/** Of the reason that a child gives, in an asset's error. */
const MAX_REASON = 300;

export type OnVodMessage = (framed: FramedMessage) => Promise<void> | void;

/** Starts media children with the confinement of live transcoders. Each has access to one file only. */
export class VodChildren {
  readonly #clock: Clock;
  readonly #confinement: Confinement;

  constructor(clock: Clock, confinement: Confinement = UNCONFINED) {
    this.#clock = clock;
    this.#confinement = confinement;
  }

  /** Children for the file at `path`. They get open descriptors of it and nothing else. */
  of(path: string): FileChildren {
    return new FileChildren(() => VodChild.start(path, this.#clock, this.#confinement));
  }
}

/** Runs jobs on one file. An idle child is kept for the next job, since starting one takes 0.3 s of CPU. */
export class FileChildren implements AsyncDisposable {
  readonly #start: () => Promise<VodChild>;
  readonly #idle: VodChild[] = [];

  constructor(start: () => Promise<VodChild>) {
    this.#start = start;
  }

  /** Resolves when the job is done. The child is paused while `onMessage` runs. Throws `FileRefused`, `CannotCopy` and `ChildFailed`. */
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

  /** Ends the idle children. */
  async rest(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((child) => child.end()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rest();
  }
}

/** A process that executes jobs on its file one after the other. */
class VodChild {
  readonly #child: PipedChild;
  readonly #clock: Clock;
  readonly #messages: AsyncGenerator<FramedMessage, void>;
  #jobs = 0;
  /** Why this process killed it; null if it did not. */
  #killedFor: string | null = null;

  private constructor(child: PipedChild, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    this.#messages = readMessages(child.output);
  }

  static async start(path: string, clock: Clock, { prefix }: Confinement): Promise<VodChild> {
    const sources: FileHandle[] = [];
    try {
      for (let n = 0; n < MAX_JOBS * SOURCES_PER_JOB; n++)
        sources.push(await open(path, constants.O_RDONLY | constants.O_NOFOLLOW));
      return new VodChild(startPipedChild({ program: CHILD, prefix, files: sources.map(({ fd }) => fd) }), clock);
    } finally {
      for (const source of sources) await source.close();
    }
  }

  get takesMore(): boolean {
    return this.#jobs < MAX_JOBS;
  }

  async run(job: VodJob, onMessage: OnVodMessage, signal: AbortSignal): Promise<void> {
    const kill = (): void => {
      this.#child.process.kill("SIGKILL");
    };
    const killFor = (reason: string) => (): void => {
      this.#killedFor ??= reason;
      kill();
    };
    const hangs = killFor(`it reported nothing for ${MAX_SILENCE_MS / 60_000} minutes`);
    if (signal.aborted) kill();
    signal.addEventListener("abort", kill, { once: true });
    const life = this.#clock.after(MAX_JOB_MS, killFor(`one job took longer than ${MAX_JOB_MS / 3_600_000} hours`));
    let silence = this.#clock.after(MAX_SILENCE_MS, hangs);
    this.#jobs++;
    try {
      this.#child.input.write(messageFrame(job));
      for (;;) {
        const { value: framed } = await this.#messages.next();
        silence.cancel();
        if (!framed) throw await this.#failure(signal);
        const { message } = framed;
        if (message.type === "refused") throw new FileRefused(message.sentence);
        if (message.type === "cannot-copy") throw new CannotCopy(message.reason);
        if (message.type === "broken") throw brokenBy(message.reason);
        await onMessage(framed);
        if (message.type === "scanned" || message.type === "encoded") return;
        silence = this.#clock.after(MAX_SILENCE_MS, hangs);
      }
    } finally {
      life.cancel();
      silence.cancel();
      signal.removeEventListener("abort", kill);
    }
  }

  /** Resolves when the process has exited. */
  async end(): Promise<void> {
    // The process has ended only after all pipes are closed, and an unread pipe would stay open.
    this.#child.output.destroy();
    await killed(this.#child);
  }

  async #failure(signal: AbortSignal): Promise<unknown> {
    const { reason, killedBy } = await this.#child.ended;
    if (signal.aborted) return signal.reason;
    if (this.#killedFor) return new ChildFailed(`the media child was killed: ${this.#killedFor}`);
    if (!BREAKDOWNS.has(killedBy)) return new ChildFailed(`the media child ${reason}`);
    return new FileRefused(
      `The decoder crashed on this file (${killedBy}): the file is damaged. Export it again with H.264 and AAC.`,
    );
  }
}

/** `reason` is an error as Node prints it: its name and message, then where it was thrown. */
function brokenBy(reason: string): ChildFailed {
  const [what = "", ...stack] = reason.split("\n");
  const [, where] = /([\w-]+\.[jt]s:\d+):\d+\)?$/m.exec(stack.join("\n")) ?? [];
  const said = what.replace(/\p{Cc}/gu, " ").slice(0, MAX_REASON);
  return new ChildFailed(`the media child ended with ${said}${where ? ` (${where})` : ""}`);
}
