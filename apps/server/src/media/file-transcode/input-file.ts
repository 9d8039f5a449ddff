import type { Clock } from "../../platform/clock.ts";
import { DownloadFailed, type Downloads } from "../../platform/outbound/outbound-download.ts";
import { BackOff, sleep } from "../../platform/retry.ts";
import { TaskFailed } from "../../ports/index.ts";

/** Consecutive failures without a byte in between. */
const MAX_FAILURES = 4;
/** Interval between checks of the free disk space. */
const LOOK_EVERY_BYTES = 16 * 1024 * 1024;
/** Disk space that is kept free for everything else. */
const RESERVED_BYTES = 512 * 1024 * 1024;

export interface InputFile {
  readonly downloads: Downloads;
  readonly clock: Clock;
  readonly freeBytes: () => number;
  readonly url: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Called with the share received, 0 to 1, if the total size is known. */
  readonly onProgress: (fraction: number) => Promise<void>;
}

/** Downloads a customer's file. A lost connection is resumed if the host supports it. Throws `TaskFailed`. */
export async function* inputBytes(file: InputFile): AsyncGenerator<Uint8Array, void> {
  const { downloads, clock, freeBytes, url, maxBytes, signal, onProgress } = file;
  const backOff = new BackOff(1_000, 15_000);
  let [offset, lookAt, failures] = [0, 0, 0];
  let validator: string | null = null;
  for (;;) {
    try {
      const download = await downloads.begin({ url, offset, validator, signal });
      if (download.offset !== offset)
        throw final("the file changed during the download, or its host does not support resuming");
      validator = download.validator;
      const { bytes } = download;
      if (bytes !== null && bytes > maxBytes) throw final(`the file is larger than ${maxBytes} bytes`);
      requireRoom(freeBytes, (bytes ?? offset) - offset);
      for await (const chunk of download.chunks) {
        failures = 0;
        offset += chunk.byteLength;
        if (offset > maxBytes) throw final(`the file is larger than ${maxBytes} bytes`);
        if (offset >= lookAt) {
          requireRoom(freeBytes, 0);
          lookAt = offset + LOOK_EVERY_BYTES;
        }
        yield chunk;
        if (bytes !== null && bytes > 0) await onProgress(offset / bytes);
      }
      if (bytes !== null && offset !== bytes)
        throw new DownloadFailed("the host sent less than it announced", { isFinal: false });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof DownloadFailed)) throw error;
      if (error.isFinal || ++failures >= MAX_FAILURES) throw failed(error.message, error.isFinal);
      await sleep(clock, backOff.next());
    }
  }
}

const failed = (why: string, isFinal: boolean): TaskFailed =>
  new TaskFailed(`Downloading the input file failed: ${why}.`, { isFinal });

const final = (why: string): TaskFailed => failed(why, true);

function requireRoom(freeBytes: () => number, bytes: number): void {
  if (freeBytes() - bytes >= RESERVED_BYTES) return;
  throw new TaskFailed("The server has too little disk space for the input file. Retry the task later.", {
    isFinal: true,
  });
}
