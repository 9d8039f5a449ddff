import { Socket } from "node:net";
import { messageFrame, messageReader } from "../../platform/pipe-frames.ts";
import type { ChildReport } from "./media-child.ts";

/**
 * The other end of `startMediaChild`: waits for the job, does it, reports. `work` calls `begun` once, and returns soon after `signal` is
 * aborted. A parent that is gone ends the process at once.
 */
export function runMediaChild<Job>(work: (job: Job, begun: () => void, signal: AbortSignal) => Promise<void>): void {
  const input = new Socket({ fd: 3, readable: true, writable: false });
  const output = new Socket({ fd: 4, readable: false, writable: true });
  for (const pipe of [input, output]) pipe.on("error", () => process.exit(1));
  input.on("close", () => process.exit(1));
  const finish = new AbortController();
  const end = (code: number) => output.end(() => process.exit(code));
  const report = (message: ChildReport) => output.write(messageFrame(message));
  const begin = (job: Job) =>
    work(job, () => report({ type: "begun" }), finish.signal).then(
      () => end(0),
      (error: unknown) => {
        report({ type: "failed", reason: error instanceof Error ? error.message : String(error) });
        end(1);
      },
    );
  const read = messageReader<Job>();
  let hasJob = false;
  input.on("data", (bytes) => {
    for (const message of read(bytes)) {
      if (hasJob) finish.abort();
      else begin(message);
      hasJob = true;
    }
  });
}
