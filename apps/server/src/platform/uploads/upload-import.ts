import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import { type Download, DownloadFailed, type Downloads } from "../outbound/outbound-download.ts";
import { BackOff, sleep } from "../retry.ts";
import type { UploadSpool } from "./upload-spool.ts";
import type { UploadTraffic } from "./upload-traffic.ts";

/** Failures in a row, without a byte in between. */
const MAX_FAILURES = 4;

export interface ImportRequest {
  readonly id: string;
  readonly url: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Receives the fetched share, from 0 to 1, if the size is known. */
  readonly onProgress: (fraction: number) => Promise<void>;
}

export interface ImportDeps {
  readonly spool: UploadSpool;
  readonly traffic: UploadTraffic;
  readonly downloads: Downloads;
  readonly clock: Clock;
}

/**
 * Fetch a file into the spool, resuming an interrupted earlier run. Returns its size. Throws `DownloadFailed`, `UploadRefused` and the signal's
 * reason.
 */
export async function importFile(deps: ImportDeps, request: ImportRequest): Promise<number> {
  const { spool, traffic, clock } = deps;
  const { id, signal } = request;
  using _writing = traffic.lock(id);
  const backOff = new BackOff(1_000, 15_000);
  for (let failures = 0; ; ) {
    const before = (await spool.find(id))?.offset ?? 0;
    try {
      return await fetchOnce(deps, request);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof DownloadFailed) || error.isFinal) throw error;
      const hasMoved = ((await spool.find(id))?.offset ?? 0) > before;
      failures = hasMoved ? 1 : failures + 1;
      if (failures >= MAX_FAILURES) throw error;
      await sleep(clock, backOff.next());
    }
  }
}

async function fetchOnce({ spool, downloads }: ImportDeps, request: ImportRequest): Promise<number> {
  const { id, url, maxBytes, signal, onProgress } = request;
  const here = await spool.find(id);
  if (here?.isComplete) return here.offset;
  const download = await downloads.begin({
    url,
    offset: here?.offset ?? 0,
    validator: here?.metadata ?? null,
    signal,
  });
  const chunks = within(download, maxBytes, onProgress);
  const note = { secret: randomBytes(16).toString("hex"), metadata: download.validator, bytes: null };
  if (!here || download.offset === 0) await spool.create(id, note);
  const end = await spool.append(id, download.offset, chunks);
  if (download.bytes !== null && end !== download.bytes)
    throw new DownloadFailed("the host sent less than it said", { isFinal: false });
  await spool.complete({ id, ...note }, end);
  return end;
}

async function* within(
  { offset, bytes, chunks }: Download,
  maxBytes: number,
  onProgress: (fraction: number) => Promise<void>,
): AsyncIterable<Uint8Array> {
  const tooLarge = () => new DownloadFailed(`the file is larger than ${maxBytes} bytes`, { isFinal: true });
  let end = offset;
  if (bytes !== null && bytes > maxBytes) throw tooLarge();
  for await (const chunk of chunks) {
    end += chunk.byteLength;
    if (end > maxBytes) throw tooLarge();
    yield chunk;
    if (bytes !== null && bytes > 0) await onProgress(end / bytes);
  }
}
