/** The file of an asset goes to an address of the customer's: the domain floor says which and where to, the media floor sends it. */
import type { MediaIndex } from "./media-index.ts";

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
  /**
   * Sends the whole file in one request. Throws `TaskFailed`, and other errors for what may heal by itself: then it is called again later and
   * sends everything anew. Stops soon after `signal` is aborted. `progressed` may throw to stop it.
   */
  send(
    work: ExportWork,
    how: { readonly signal: AbortSignal; readonly progressed: (fraction: number) => Promise<void> },
  ): Promise<void>;
}
