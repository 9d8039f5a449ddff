import { fileURLToPath } from "node:url";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { messageFrame, messageReader } from "../../platform/pipe-frames.ts";
import { killed, startPipedChild, takeMessages } from "../../platform/piped-child.ts";

/** How a child ended: after its work, or with a reason that a person can read. */
export type ChildEnd = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** A process that holds FFmpeg, so that this one does not. */
export interface RunningChild {
  readonly pid: number;
  /** Resolves when the child says that its work has begun; rejects with the reason when it ends before. */
  readonly begun: Promise<void>;
  /** Resolves when the process is gone. */
  readonly ended: Promise<ChildEnd>;
  /** Ends the process at once, wherever it is, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks the child to finish what it does; whoever cannot wait for it calls `kill` after. */
  finish(): void;
}

/** The messages of a child to its parent. */
export type ChildReport = { readonly type: "begun" } | { readonly type: "failed"; readonly reason: string };

export interface ChildOptions {
  /** The module that the child runs. */
  readonly module: URL;
  /** Given over a pipe, never in argv or the environment, which other users of the machine can read. */
  readonly job: object;
  /** It is killed when it lives longer. */
  readonly lifeMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts a child for one job. It is sent the job, then perhaps a request to finish. */
export function startMediaChild({ module, job, lifeMs, clock, log }: ChildOptions): RunningChild {
  const child = startPipedChild({ program: fileURLToPath(module) });
  const begun = Promise.withResolvers<void>();
  let failure: string | null = null;
  const take = (report: ChildReport): void => {
    if (report.type === "begun") begun.resolve();
    else failure = report.reason;
  };
  takeMessages(child, { read: messageReader<ChildReport>(), take, log, name: "a media process" });
  const deadline = clock.after(lifeMs, () => child.process.kill("SIGKILL"));
  const ended = child.ended.then(({ code, reason }): ChildEnd => {
    deadline.cancel();
    const end: ChildEnd = code === 0 ? { ok: true } : { ok: false, reason: failure ?? `the media process ${reason}` };
    begun.reject(new Error(end.ok ? "ended before it began" : end.reason));
    return end;
  });
  begun.promise.catch(() => {}); // not every caller waits for it
  child.input.write(messageFrame(job));
  return {
    pid: child.process.pid ?? 0,
    begun: begun.promise,
    ended,
    kill: () => killed(child),
    finish: () => child.input.write(messageFrame("finish")),
  };
}
