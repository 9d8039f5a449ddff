import { PauseSwitch } from "./pause-switch.ts";
import { wait } from "./wait.ts";
import { errorOf, WeirError } from "./weir-error.ts";

/** The destination of a file, and the receiver of progress. */
export interface FileUpload {
  /** `tusEndpoint` of a requested upload. It contains the token, so no API key is needed. */
  readonly endpoint: string;
  readonly file: Blob;
  /** URL of this upload, as passed to `onAddress` earlier, to continue it, for example after the page was reloaded. */
  readonly address?: string | undefined;
  /** Called once the server knows the upload. Keep the URL to resume later. */
  readonly onAddress?: ((address: string) => void) | undefined;
  /** Called with the share of the file that the server has, from 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  /** Ends the upload. The server keeps the received bytes for a day. */
  readonly signal?: AbortSignal | undefined;
  readonly pause?: PauseSwitch | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const VERSION = { "tus-resumable": "1.0.0" };
const MIN_CHUNK = 256 * 1024;
const FIRST_CHUNK = 1024 * 1024;
const MAX_CHUNK = 16 * 1024 * 1024;
/** Target duration of a chunk: short enough for a bad line, long enough to cost nothing. */
const CHUNK_MS = 2_000;
const CALL_TIMEOUT_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Failures in a row, without a byte in between: about ten minutes. */
const MAX_FAILURES = 24;
/** The offset differs, another client writes, a checksum failed, too many uploads, or no space at the moment. */
const MAY_HEAL = new Set([408, 409, 423, 429, 460]);
/**
 * The answer to a new upload of what has been uploaded. Where this upload was known before, its last answer was lost, and the server has put the
 * file where it belongs since.
 */
const HAS_ARRIVED = 422;

/**
 * Upload a file with tus 1.0: in chunks with a checksum, resuming from the last chunk that arrived. Throws WeirError for failures that a retry
 * cannot fix, and the signal's reason when it is aborted.
 *
 * @example
 * // On your server, which has the key; its visitor uploads without one.
 * const { tusEndpoint } = await weir.assets.requestUpload({ name: "holiday" });
 * // In the visitor's page:
 * const pause = new PauseSwitch();
 * await uploadFile({ endpoint: tusEndpoint, file, pause, onProgress: (fraction) => console.log(fraction) });
 */
export async function uploadFile(upload: FileUpload): Promise<void> {
  const { file, onAddress, onProgress, signal, pause = new PauseSwitch() } = upload;
  let address = upload.address;
  let offset: number | null = null;
  let chunkBytes = FIRST_CHUNK;
  let failures = 0;
  let isKnown = address !== undefined;
  for (;;) {
    await pause.whilePaused(signal);
    const call = new Call(upload, pause.signal);
    try {
      if (address === undefined) {
        address = await call.create(file.size);
        isKnown = true;
        onAddress?.(address);
        offset = 0;
      }
      offset ??= await call.offsetOf(address);
      if (offset === null) {
        address = undefined;
        continue;
      }
      onProgress?.(file.size === 0 ? 1 : offset / file.size);
      if (offset >= file.size) return;
      const begunAt = Date.now();
      offset = await call.append(address, offset, file.slice(offset, offset + chunkBytes));
      failures = 0;
      const factor = CHUNK_MS / Math.max(1, Date.now() - begunAt);
      chunkBytes = Math.round(Math.min(MAX_CHUNK, Math.max(MIN_CHUNK, chunkBytes * Math.min(2, factor))));
    } catch (error) {
      signal?.throwIfAborted();
      // Ask the server which bytes have arrived.
      offset = null;
      if (pause.isPaused) continue;
      if (isKnown && error instanceof WeirError && error.status === HAS_ARRIVED) return onProgress?.(1);
      if (error instanceof WeirError && !mayHeal(error.status)) throw error;
      failures++;
      if (failures > MAX_FAILURES) throw error;
      chunkBytes = Math.max(MIN_CHUNK, Math.round(chunkBytes / 2));
      const retryMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
      await wait(retryMs * (0.5 + Math.random() / 2), signal);
    }
  }
}

const mayHeal = (status: number): boolean => status === 0 || status >= 500 || MAY_HEAL.has(status);

/** One exchange with the server. */
class Call {
  readonly #upload: FileUpload;
  readonly #interrupt: AbortSignal;

  constructor(upload: FileUpload, interrupt: AbortSignal) {
    this.#upload = upload;
    this.#interrupt = interrupt;
  }

  /** Start; returns the URL of the upload. */
  async create(bytes: number): Promise<string> {
    const { endpoint } = this.#upload;
    const answer = await this.#send("POST", endpoint, { "upload-length": String(bytes) });
    const location = answer.headers.get("location");
    if (location === null) throw new WeirError(0, ["the server did not say where the upload goes"]);
    return new URL(location, new URL(endpoint, answer.url || undefined)).href;
  }

  /** Null if the server no longer knows the upload. */
  async offsetOf(address: string): Promise<number | null> {
    try {
      return readOffset(await this.#send("HEAD", address));
    } catch (error) {
      if (error instanceof WeirError && (error.status === 404 || error.status === 410)) return null;
      throw error;
    }
  }

  /** Returns the upload's new offset. */
  async append(address: string, offset: number, chunk: Blob): Promise<number | null> {
    const body = await chunk.arrayBuffer();
    const headers = {
      "content-type": "application/offset+octet-stream",
      "upload-offset": String(offset),
      ...(await checksumOf(body)),
    };
    try {
      return readOffset(await this.#send("PATCH", address, headers, body));
    } catch (error) {
      if (error instanceof WeirError && (error.status === 404 || error.status === 410)) return null;
      throw error;
    }
  }

  async #send(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>> = {},
    body: ArrayBuffer | null = null,
  ): Promise<Response> {
    const { signal, fetch = globalThis.fetch } = this.#upload;
    const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
    const signals = [deadline, this.#interrupt, ...(signal ? [signal] : [])];
    let answer: Response;
    try {
      answer = await fetch(url, {
        method,
        headers: { ...VERSION, ...headers },
        body,
        credentials: "omit",
        signal: AbortSignal.any(signals),
      });
    } catch (cause) {
      throw new WeirError(0, ["the server could not be reached"], { cause });
    }
    if (!answer.ok) throw await errorOf(`${method} of an upload`, answer);
    return answer;
  }
}

function readOffset({ headers }: Response): number {
  const text = headers.get("upload-offset");
  if (text === null) throw new WeirError(0, ["the server did not say how much has arrived"]);
  return Number(text);
}

/** Browsers compute digests only in secure contexts; elsewhere TCP has to suffice. */
async function checksumOf(bytes: ArrayBuffer): Promise<Record<string, string>> {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return {};
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return { "upload-checksum": `sha256 ${btoa(String.fromCharCode(...digest))}` };
}
