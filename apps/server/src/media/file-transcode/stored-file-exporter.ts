import type { OutboundStream } from "../../platform/outbound/outbound.ts";
import { Slices } from "../../platform/slices.ts";
import { ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import { type ExportWork, type FileExporter, type MediaIndex, TaskFailed, type TaskRun } from "../../ports/index.ts";
import { OpenMedia } from "../stored/open-media.ts";
import { StoredMedia } from "../stored/stored-media.ts";
import type { FileTranscoderSettings } from "./stored-file-transcoder.ts";

/** For each chunk, and for the answer after the last one. */
const STALL_MS = 60_000;
/** A receiver that is slower than this takes a place of others. */
const MAX_EXPORT_MS = 6 * 3_600_000;
/** Statuses of 4xx that may heal by themselves. */
const TEMPORARY = new Set([408, 425, 429]);

export interface FileExporterSettings extends Pick<FileTranscoderSettings, "clock" | "outbound"> {
  readonly store: Pick<ObjectStore, "read">;
}

/** Streams the file of an asset from the object store to a customer's address. Redirects are not followed: the headers are for one host. */
export class StoredFileExporter implements FileExporter {
  readonly #settings: FileExporterSettings;
  readonly #slices: Slices;

  constructor(settings: FileExporterSettings) {
    this.#settings = settings;
    this.#slices = new Slices(settings.clock);
  }

  async send({ media, url, method, headers }: ExportWork, { signal, progressed }: TaskRun): Promise<void> {
    const { clock, outbound } = this.#settings;
    const tooLong = new AbortController();
    const limit = clock.after(MAX_EXPORT_MS, () => tooLong.abort());
    try {
      const { type, bytes, chunks } = await this.#open(media);
      let given = 0;
      const counted = async function* () {
        for await (const chunk of chunks as AsyncIterable<Uint8Array>) {
          given += chunk.byteLength;
          yield chunk;
          // The connection asks for the next one.
          await progressed(given / bytes);
        }
      };
      const answer = await outbound.send({
        ...{ method, url, timeoutMs: STALL_MS, signal: AbortSignal.any([signal, tooLong.signal]) },
        headers: { "user-agent": "weir", "content-type": type, ...headers },
        body: { bytes, chunks: counted() },
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
      const open = await OpenMedia.open(new StoredMedia(media, store), this.#slices);
      const mp4 = await open.mp4("source");
      if (!mp4) throw new Error("the media has no MP4 of the source");
      return { type: "video/mp4", bytes: mp4.size, chunks: mp4.read() };
    } catch (error) {
      if (error instanceof ObjectNotFound) throw failed("its bytes are gone", true);
      throw error;
    }
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
