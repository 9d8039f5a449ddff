import type { Clock } from "../../platform/clock.ts";
import { DownloadFailed, type Downloads } from "../../platform/outbound/outbound-download.ts";
import { BackOff, sleep } from "../../platform/retry.ts";
import { TranscodeFailed } from "../../ports/index.ts";

/** In a row, without a byte in between. */
const MAX_FAILURES = 4;
/** How much comes before the disk is looked at again. */
const LOOK_EVERY_BYTES = 16 * 1024 * 1024;
/** Left to everything else on the disk. */
const RESERVED_BYTES = 512 * 1024 * 1024;

export interface InputFileDeps {
  readonly downloads: Downloads;
  readonly clock: Clock;
  readonly freeBytes: () => number;
}

export interface InputFile {
  readonly url: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Told how much is here, from 0 to 1, where the whole is known. */
  readonly onProgress: (fraction: number) => Promise<void>;
}

/** The bytes of a customer's file, from its begin to its end: a connection that is lost is resumed where its host allows. Throws `TranscodeFailed`. */
export async function* inputBytes(
  { downloads, clock, freeBytes }: InputFileDeps,
  { url, maxBytes, signal, onProgress }: InputFile,
): AsyncGenerator<Uint8Array, void> {
  const backOff = new BackOff(1_000, 15_000);
  let [offset, lookAt, failures] = [0, 0, 0];
  let validator: string | null = null;
  for (;;) {
    try {
      const download = await downloads.begin({ url, offset, validator, signal });
      if (download.offset !== offset) throw final("it changed while it was fetched, or its host cannot resume");
      validator = download.validator;
      const { bytes } = download;
      if (bytes !== null && bytes > maxBytes) throw final(`it is larger than ${maxBytes} bytes`);
      requireRoom(freeBytes, (bytes ?? offset) - offset);
      for await (const chunk of download.chunks) {
        failures = 0;
        offset += chunk.byteLength;
        if (offset > maxBytes) throw final(`it is larger than ${maxBytes} bytes`);
        if (offset >= lookAt) {
          requireRoom(freeBytes, 0);
          lookAt = offset + LOOK_EVERY_BYTES;
        }
        yield chunk;
        if (bytes !== null && bytes > 0) await onProgress(offset / bytes);
      }
      if (bytes !== null && offset !== bytes)
        throw new DownloadFailed("the host sent less than it said", { isFinal: false });
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof DownloadFailed)) throw error;
      if (error.isFinal || ++failures >= MAX_FAILURES) throw failed(error.message, error.isFinal);
      await sleep(clock, backOff.next());
    }
  }
}

const failed = (why: string, isFinal: boolean): TranscodeFailed =>
  new TranscodeFailed(`The input file could not be fetched: ${why}.`, { isFinal });

const final = (why: string): TranscodeFailed => failed(why, true);

function requireRoom(freeBytes: () => number, bytes: number): void {
  if (freeBytes() - bytes >= RESERVED_BYTES) return;
  throw new TranscodeFailed("The server has no room for the input file at the moment: retry the task later.", {
    isFinal: true,
  });
}
