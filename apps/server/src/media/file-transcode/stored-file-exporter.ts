import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Clock } from "../../platform/clock.ts";
import type { Outbound, OutboundStream } from "../../platform/outbound/outbound.ts";
import { Slices } from "../../platform/slices.ts";
import { ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import { type ExportWork, type FileExporter, type MediaIndex, TaskFailed } from "../../ports/index.ts";
import { OpenMedia } from "../stored/open-media.ts";
import { nowAndThen } from "./now-and-then.ts";
import { readMp4 } from "./stored-mp4.ts";

/** For each chunk, and for the answer after the last one. */
const STALL_MS = 60_000;
/** A receiver that is slower than this takes a place of others. */
const MAX_EXPORT_MS = 6 * 3_600_000;
/** Statuses of 4xx that may heal by themselves. */
const TEMPORARY = new Set([408, 425, 429]);

export interface FileExporterSettings {
  readonly clock: Clock;
  readonly store: Pick<ObjectStore, "read">;
  /** Sends requests to customers' hosts. */
  readonly outbound: Pick<Outbound, "send">;
}

type How = Parameters<FileExporter["send"]>[1];

/** Streams the file of an asset from the object store to a customer's address. Redirects are not followed: the headers are for one host. */
export class StoredFileExporter implements FileExporter {
  readonly #settings: FileExporterSettings;
  readonly #slices: Slices;

  constructor(settings: FileExporterSettings) {
    this.#settings = settings;
    this.#slices = new Slices(settings.clock);
  }

  async send({ media, url, method, headers }: ExportWork, { signal, progressed }: How): Promise<void> {
    const { clock, outbound } = this.#settings;
    const tooLong = new AbortController();
    const limit = clock.after(MAX_EXPORT_MS, () => tooLong.abort());
    try {
      const { type, bytes, chunks } = await this.#open(media);
      const tell = nowAndThen(clock, progressed);
      let given = 0;
      const answer = await outbound.send({
        ...{ method, url, timeoutMs: STALL_MS, signal: AbortSignal.any([signal, tooLong.signal]) },
        headers: { "user-agent": "weir", "content-type": type, ...headers },
        body: {
          bytes,
          chunks: counted(chunks, {
            onGiven: (sum) => {
              given = sum;
            },
            onTaken: (sum) => tell(sum / bytes),
          }),
        },
      });
      if (!answer.ok) throw failed(answer.message, answer.reason === "refused");
      answer.response.destroy();
      checkStatus(answer.status);
      // HTTP lets a server answer before it has read the body: what such an answer is about is not the file.
      if (given < bytes) throw failed(`the receiver answered ${answer.status} before it had the whole file`, false);
    } catch (error) {
      if (tooLong.signal.aborted && !signal.aborted)
        throw failed(`the receiver did not take it within ${MAX_EXPORT_MS / 3_600_000} hours`, true);
      throw error;
    } finally {
      limit.cancel();
    }
  }

  async #open(media: MediaIndex): Promise<OutboundStream & { readonly type: string }> {
    const { store } = this.#settings;
    try {
      const { original } = media;
      if (original)
        return { type: "application/octet-stream", bytes: original.bytes, chunks: await store.read(original.key) };
      const open = await OpenMedia.open(media, async (key) => buffer(await store.read(key)), this.#slices);
      const mp4 = await open.mp4("source");
      if (!mp4) throw new Error("the media has no MP4 of the source");
      return { type: "video/mp4", bytes: mp4.size, chunks: readMp4(store, media, mp4) };
    } catch (error) {
      if (error instanceof ObjectNotFound) throw failed("its bytes are gone", true);
      throw error;
    }
  }
}

/** Tells the bytes so far: when a chunk is given to the connection, and when the connection asks for the next one. */
async function* counted(
  chunks: AsyncIterable<Uint8Array> | Readable,
  { onGiven, onTaken }: { readonly onGiven: (sum: number) => void; readonly onTaken: (sum: number) => Promise<void> },
): AsyncGenerator<Uint8Array, void> {
  let sum = 0;
  for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
    sum += chunk.byteLength;
    onGiven(sum);
    yield chunk;
    await onTaken(sum);
  }
}

function checkStatus(status: number): void {
  if (status >= 200 && status < 300) return;
  if (status >= 300 && status < 400)
    throw failed(
      `the address redirects (${status}), which Weir does not follow: use the address that it leads to`,
      true,
    );
  if (status === 401 || status === 403)
    throw failed(`the receiver refused it (${status}): check the headers, and whether the address has expired`, true);
  throw failed(`the receiver answered ${status}`, status >= 400 && status < 500 && !TEMPORARY.has(status));
}

const failed = (why: string, isFinal: boolean): TaskFailed =>
  new TaskFailed(`The file could not be exported: ${why}.`, { isFinal });
