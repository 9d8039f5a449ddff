import { ProcessingBroke } from "../../ports/index.ts";

/** The error of a file that is given up after `runs` that ended by an error, for its owner. */
export function brokenRunsSentence(error: unknown, runs: number, what: "asset" | "task"): string {
  if (error instanceof ProcessingBroke)
    return `Processing failed ${runs} times: ${error.message}. Export the file again, or retry the ${what}; the server's log has more.`;
  return `Processing broke off ${runs} times for a reason that is not the file's. The server's log has it; retry the ${what} when that is mended.`;
}
