import type { Clock } from "../../platform/clock.ts";
import type { Outbound } from "../../platform/outbound/outbound.ts";
import { Downloads } from "../../platform/outbound/outbound-download.ts";
import { Slices } from "../../platform/slices.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import {
  type AssetProcessor,
  type FileTranscoder,
  type MadeMedia,
  type MediaIndex,
  type TaskRun,
  type TranscodeWork,
  transcodePrefix,
  type VideoSpec,
} from "../../ports/index.ts";
import { BucketWriter } from "./bucket-writer.ts";
import { CustomerStore } from "./customer-store.ts";
import { inputBytes } from "./input-file.ts";

/** Progress after downloading, and after encoding. */
const FETCHED = 0.1;
const ENCODED = 0.8;

export interface FileTranscoderSettings {
  readonly clock: Clock;
  readonly store: ObjectStore;
  readonly processor: AssetProcessor;
  /** Sends requests to customers' hosts. */
  readonly outbound: Pick<Outbound, "send">;
  readonly freeBytes: () => number;
}

/**
 * Downloads a customer's file into the object store, processes it like an uploaded one, and writes the output to the customer's bucket. Work that an
 * earlier run finished is skipped.
 */
export class StoredFileTranscoder implements FileTranscoder {
  readonly #settings: FileTranscoderSettings;
  readonly #downloads: Downloads;
  readonly #slices: Slices;

  constructor(settings: FileTranscoderSettings) {
    this.#settings = settings;
    this.#downloads = new Downloads(settings.outbound, settings.clock);
    this.#slices = new Slices(settings.clock);
  }

  async transcode(work: TranscodeWork, run: TaskRun): Promise<VideoSpec> {
    const prefix = transcodePrefix(work.projectId, work.taskId);
    const { outbound, clock } = this.#settings;
    const bucket = new CustomerStore(work.storage, outbound, clock);
    // Reports an unwritable bucket before hours of work.
    for (const folder of [...work.outputs.hls, ...work.outputs.mp4]) await bucket.probe(`${folder}index.m3u8`);
    const { key, bytes } = await this.#fetch(work, prefix, run);
    const { spec, media } = await this.#process(work, { prefix, key, bytes }, run);
    await this.#write(work, bucket, media, run);
    return spec;
  }

  async #fetch({ input, maxBytes }: TranscodeWork, prefix: string, { signal, progressed }: TaskRun) {
    const { store, outbound, clock, freeBytes } = this.#settings;
    const key = `${prefix}source/original`;
    const here = await store.size(key);
    if (here !== null) return { key, bytes: here };
    const url =
      "url" in input ? input.url : await new CustomerStore(input.bucket, outbound, clock).addressOf(input.key);
    const onProgress = (fraction: number) => progressed(fraction * FETCHED);
    const file = inputBytes({ downloads: this.#downloads, clock, freeBytes, url, maxBytes, signal, onProgress });
    await store.putStream(key, file);
    return { key, bytes: (await store.size(key)) ?? 0 };
  }

  #process(
    { taskId, projectId, attempt, outputs, profiles, targetSegmentSeconds }: TranscodeWork,
    source: { readonly prefix: string; readonly key: string; readonly bytes: number },
    { signal, progressed }: TaskRun,
  ): Promise<MadeMedia> {
    const work = {
      assetId: taskId,
      projectId,
      attempt,
      profiles,
      targetSegmentSeconds,
      sourceKey: source.key,
      sourceBytes: source.bytes,
      outPrefix: `${source.prefix}out/${attempt}/`,
      staticMp4: outputs.mp4.length > 0,
    };
    return this.#settings.processor.process(work, {
      signal,
      progressed: (done) => progressed(FETCHED + done * (ENCODED - FETCHED)),
      scanned: async () => {},
    });
  }

  async #write({ outputs }: TranscodeWork, bucket: CustomerStore, index: MediaIndex, { signal, progressed }: TaskRun) {
    const { store } = this.#settings;
    let [written, all] = [0, 1];
    const onBytes = (bytes: number) => {
      written += bytes;
      return progressed(ENCODED + Math.min(1, written / all) * (1 - ENCODED));
    };
    const writer = await BucketWriter.open({ store, bucket, slices: this.#slices, signal, onBytes }, index);
    all = Math.max(1, writer.hlsBytes * outputs.hls.length + writer.mp4Bytes * outputs.mp4.length);
    for (const folder of outputs.hls) await writer.hls(folder);
    for (const folder of outputs.mp4) await writer.mp4s(folder);
  }
}
