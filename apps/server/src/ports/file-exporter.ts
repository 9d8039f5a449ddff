/** The file of an asset goes to an address of the customer's: the domain floor says which and where to, the media floor sends it. */
import type { MediaIndex } from "./media-index.ts";
import type { TaskRun } from "./task-run.ts";

export interface ExportWork {
  readonly taskId: string;
  /** The original is sent if it is kept, else the source-quality MP4. */
  readonly media: MediaIndex;
  readonly url: string;
  readonly method: string;
  /** Names in lower case. Their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface FileExporter {
  /** Sends the whole file in one request. Throws `TaskFailed`, and other errors for temporary faults: the next run then sends everything again. */
  send(work: ExportWork, run: TaskRun): Promise<void>;
}
