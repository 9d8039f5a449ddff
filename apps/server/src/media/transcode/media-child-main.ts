import { type ChildReport, FINISH } from "./media-child.ts";

/**
 * The other end of `startMediaChild`: waits for the job, does it, reports. `work` calls `begun` once, and returns soon after `signal` is
 * aborted. A parent that is gone ends the process at once.
 */
export function runMediaChild<Job>(work: (job: Job, begun: () => void, signal: AbortSignal) => Promise<void>): void {
  const finish = new AbortController();
  process.once("disconnect", () => process.exit(1));
  process.once("message", async (job: Job) => {
    process.on("message", (message) => {
      if (message === FINISH) finish.abort();
    });
    try {
      await work(job, () => report({ type: "begun" }), finish.signal);
      process.exit(0);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      report({ type: "failed", reason }, () => process.exit(1));
    }
  });
}

function report(message: ChildReport, sent: () => void = () => {}): void {
  process.send?.(message, sent);
}
