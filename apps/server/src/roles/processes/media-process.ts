import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { BackOff, sleep } from "../../platform/retry.ts";
import { StartupError } from "../../platform/startup-error.ts";
import type { ProcessShare } from "../process-share.ts";
import type { FromProcess, ToProcess } from "./process-messages.ts";

const CHILD = fileURLToPath(new URL("./media-process-child.ts", import.meta.url));
/** Waits before a process that died is replaced, doubled until one has been steady. A start takes a core, which encoders that come back at the others need first. */
const REPLACED_AFTER_MS = { first: 1_500, most: 12_000 };
const STEADY_MS = 60_000;
const ANSWERS_WITHIN_MS = 2_000;

export type Ready = Extract<FromProcess, { kind: "ready" }>;

/** A process, and how it ends: with a signal, a code, or because the system could not start it. */
interface Running {
  readonly worker: Worker;
  readonly ended: Promise<string>;
}

export interface MediaProcessSettings {
  readonly clock: Clock;
  readonly log: Log;
  /** At each start. */
  readonly share: () => ProcessShare;
}

/**
 * One of several media processes of this server, replaced when it dies. `startPipedChild` does not fit: these listen on the server's ports, which
 * node:cluster shares where the kernel does not.
 */
export class MediaProcess {
  readonly #settings: MediaProcessSettings;
  readonly #backOff = new BackOff(REPLACED_AFTER_MS.first, REPLACED_AFTER_MS.most);
  #running: Running | null = null;
  #isReady = false;
  #isClosing = false;
  #asked = 0;

  constructor(settings: MediaProcessSettings) {
    this.#settings = settings;
  }

  /** Resolves when it serves. Throws `StartupError` with what it said, or that it ended. It is replaced from then on. */
  async start(): Promise<Ready> {
    const { clock, share } = this.#settings;
    const { number } = share();
    // For who looks at the machine's processes.
    cluster.setupPrimary({ exec: CHILD, args: [String(number)] });
    const running = forked(number);
    const { worker, ended } = running;
    this.#running = running;
    this.#isReady = false;
    this.#send({ kind: "start", share: share() });
    const ready = await new Promise<Ready>((resolve, reject) => {
      worker.on("message", (message: FromProcess) => {
        if (message.kind === "ready") resolve(message);
        if (message.kind === "failed") reject(new StartupError(message.reason));
      });
      void ended.then((how) => {
        // A start that failed may take longer to end than the next one to begin.
        if (this.#running === running) this.#running = null;
        reject(new StartupError(`media process ${number} ended at its start (${how}): see its log`));
      });
    });
    this.#isReady = true;
    const since = clock.monotonic();
    void ended.then((how) => {
      if (clock.monotonic() - since > STEADY_MS) this.#backOff.reset();
      return this.#replace(how);
    });
    return ready;
  }

  /** As `start`, but one that cannot start is replaced like one that ended, and null: a server that serves already goes on with what it has. */
  async startOrReplace(): Promise<Ready | null> {
    try {
      return await this.start();
    } catch (error) {
      if (!(error instanceof StartupError)) throw error;
      void this.#replace(error.message);
      return null;
    }
  }

  /** Its metrics as text; null while it has none to tell. */
  async metrics(): Promise<string | null> {
    if (!this.#isReady) return null;
    const id = ++this.#asked;
    const answer = await this.#ask({ kind: "metrics", id }, (told) => told.kind === "metrics" && told.id === id);
    return answer?.kind === "metrics" ? answer.text : null;
  }

  /** Its streams go to no other process of this server from now on, as all are about to stop. */
  async drain(): Promise<void> {
    this.#isClosing = true;
    if (this.#isReady) await this.#ask({ kind: "drain" }, (told) => told.kind === "drained");
  }

  /** Resolves when it is gone. */
  async stop(withinMs: number): Promise<void> {
    this.#isClosing = true;
    if (!this.#running) return;
    const { worker, ended } = this.#running;
    this.#send({ kind: "stop" });
    const late = this.#settings.clock.after(withinMs, () => worker.process.kill("SIGKILL"));
    await ended;
    late.cancel();
  }

  /** The first message for which `isAnswer` holds; null if it does not come in time. */
  async #ask(question: ToProcess, isAnswer: (message: FromProcess) => boolean): Promise<FromProcess | null> {
    if (!this.#running) return null;
    const { worker } = this.#running;
    const { promise, resolve } = Promise.withResolvers<FromProcess | null>();
    const listen = (message: FromProcess) => isAnswer(message) && resolve(message);
    const late = this.#settings.clock.after(ANSWERS_WITHIN_MS, () => resolve(null));
    worker.on("message", listen);
    this.#send(question);
    try {
      return await promise;
    } finally {
      worker.off("message", listen);
      late.cancel();
    }
  }

  #send(message: ToProcess): void {
    const worker = this.#running?.worker;
    // Its end follows a failure, and tells.
    if (worker?.isConnected()) worker.send(message, () => {});
  }

  async #replace(how: string): Promise<void> {
    const { clock, log, share } = this.#settings;
    const { number } = share();
    this.#isReady = false;
    if (this.#isClosing) return;
    log.error({ process: number, how }, "a media process ended; starting another in its place");
    while (!this.#isClosing) {
      await sleep(clock, this.#backOff.next());
      if (this.#isClosing) return;
      try {
        return void (await this.start());
      } catch (error) {
        if (!(error instanceof StartupError)) throw error;
        if (this.#isClosing) return;
        log.error({ process: number }, error.message);
      }
    }
  }
}

/** Throws `StartupError` where the system has no memory or no process left, or says so later by the end of what was started. */
function forked(number: number): Running {
  let worker: Worker;
  try {
    worker = cluster.fork();
  } catch (error) {
    throw new StartupError(`media process ${number} could not be started: ${(error as Error).message}`);
  }
  const ended = new Promise<string>((resolve) => {
    worker.once("exit", (code, signal) => resolve(signal || `code ${code}`));
    // Without a pid there is nothing that could exit.
    worker.on("error", (error: Error) => worker.process.pid === undefined && resolve(error.message));
  });
  return { worker, ended };
}
