import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type FragmentSample, readSamples } from "@weir/formats/mp4";
import type { Clock } from "../../platform/clock.ts";
import { Slices } from "../../platform/slices.ts";
import type { ObjectStore } from "../../platform/storage/object-store.ts";
import type {
  AssetLedger,
  ClipMaker,
  ClipWork,
  MediaIndex,
  StaticMp4,
  StoredRendition,
  StoredSegment,
  VideoSpec,
} from "../../ports/index.ts";
import { ArchiveMp4 } from "../stored/archive-mp4.ts";
import { asOneFragment } from "../stored/one-fragment.ts";
import { MadeFiles } from "../vod/made-files.ts";
import { FileRefused } from "../vod/refusal.ts";
import type { VodChildren } from "../vod/vod-children.ts";
import { type ClipPiece, type ClipPlan, type ClipTrack, planClip } from "./clip-plan.ts";
import { ClipSpans } from "./clip-spans.ts";
import { edgeJob } from "./edge-job.ts";
import { readWindow } from "./kept-window.ts";

export interface ClipPipelineSettings {
  readonly clock: Clock;
  readonly store: ObjectStore;
  readonly children: VodChildren;
  /** For the segments that are being re-encoded. */
  readonly folder: string;
  /** The x264 preset. */
  readonly preset: string;
}

/** Where edges are re-encoded, and the signal to stop. */
interface Workplace {
  readonly folder: string;
  readonly signal: AbortSignal;
}

const NOTHING_THERE =
  "There is no media between the start and the end of the clip: nothing was recorded then, or it was deleted. Choose another time.";

/**
 * Makes clips of stored media. Segments that are entirely inside the clip are copied with shifted timestamps. The video of the two edge segments is
 * re-encoded, so that the clip starts and ends at exactly the requested picture. Video other than H.264 is cut at segment boundaries instead.
 */
export class ClipPipeline implements ClipMaker {
  readonly #settings: ClipPipelineSettings;
  readonly #slices: Slices;

  constructor(settings: ClipPipelineSettings) {
    this.#settings = settings;
    this.#slices = new Slices(settings.clock);
  }

  async make(work: ClipWork, ledger: AssetLedger, signal: AbortSignal): Promise<void> {
    const made = new MadeFiles(this.#settings.store, work.outPrefix);
    const plan = planClip(work.parent, work.fromMs, work.toMs);
    if (!plan) return ledger.failed(work.assetId, NOTHING_THERE);
    const folder = await mkdtemp(join(this.#settings.folder, "clip-"));
    try {
      const beginSeconds = plan.fromSeconds - (await this.#longestDelay(work.parent, plan));
      const renditions: StoredRendition[] = [];
      for (const [nth, track] of plan.tracks.entries()) {
        signal.throwIfAborted();
        renditions.push(await this.#cut(work, beginSeconds, track, { folder, signal }));
        await ledger.progressed(work.assetId, (nth + 1) / plan.tracks.length);
      }
      const index = { id: work.assetId, projectId: work.projectId, keyPrefix: work.outPrefix, renditions };
      const mp4 = await this.#mp4(index, made);
      await ledger.probed(work.assetId, specOf(plan, mp4));
      await ledger.finished(work.assetId, { ...index, mp4s: [mp4] });
    } catch (error) {
      if (!(error instanceof FileRefused)) throw error;
      await made.dropAll();
      await ledger.failed(work.assetId, error.message);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async findWindow(prefix: string): Promise<MediaIndex | null> {
    return readWindow(this.#settings.store, prefix);
  }

  async dropWindow(prefix: string): Promise<void> {
    await this.#settings.store.deletePrefix(prefix);
  }

  async #cut(
    { parent, outPrefix }: ClipWork,
    beginSeconds: number,
    { rendition, pieces }: ClipTrack,
    workplace: Workplace,
  ): Promise<StoredRendition> {
    const { timescale, kind, codec } = rendition.track;
    const isEncoded = ({ isWhole }: ClipPiece): boolean => !isWhole && codec === "avc";
    const copiedInits = new Set(pieces.filter((piece) => !isEncoded(piece)).map(({ segment }) => segment.init));
    const spans = new ClipSpans({
      ...{ store: this.#settings.store, prefix: `${outPrefix}${rendition.rendition}/`, timescale },
      earlierTicks: Math.round(beginSeconds * timescale),
      hasSeveralInits: copiedInits.size + pieces.filter(isEncoded).length > 1,
    });
    for (const init of copiedInits) await spans.putInit(init, await this.#readInit(parent, rendition, init));
    for (const piece of pieces) {
      workplace.signal.throwIfAborted();
      const isCut = !piece.isWhole;
      if (isEncoded(piece)) await this.#encode(parent, rendition, piece, workplace, spans);
      else if (isCut && kind === "audio") await spans.addSamples(piece, await this.#cutSound(parent, rendition, piece));
      else await spans.copy(piece, this.#readWhole(parent, rendition, piece.segment));
    }
    return spans.end(rendition);
  }

  /** Re-encodes the pictures of a piece. */
  async #encode(
    parent: MediaIndex,
    rendition: StoredRendition,
    piece: ClipPiece,
    { folder, signal }: Workplace,
    spans: ClipSpans,
  ): Promise<void> {
    const path = join(folder, `${rendition.rendition}-${piece.msn}.mp4`);
    const init = await this.#readInit(parent, rendition, piece.segment.init);
    const parentBytes = await buffer(await this.#read(parent, rendition, piece.segment));
    await writeFile(path, [init, parentBytes], { mode: 0o600 });
    const job = edgeJob(rendition, piece, delayOf(parentBytes) / rendition.track.timescale, this.#settings.preset);
    await using children = this.#settings.children.of(path);
    await children.run(
      job,
      async ({ message, bytes }) => {
        if (message.type === "init") await spans.putInit(message.file, bytes);
        if (message.type !== "span") return;
        for (const row of message.segments)
          await spans.addEncoded(piece, row, bytes.subarray(row.offset, row.offset + row.length));
      },
      signal,
    );
    await rm(path);
  }

  /**
   * The longest reorder delay of the first pictures, in seconds. The clip's timeline starts this much before them, so that no decode time is
   * negative.
   */
  async #longestDelay(parent: MediaIndex, { tracks }: ClipPlan): Promise<number> {
    let longest = 0;
    for (const { rendition, pieces } of tracks) {
      const [first] = pieces;
      if (!first || rendition.track.kind !== "video") continue;
      const bytes = await buffer(await this.#read(parent, rendition, first.segment));
      longest = Math.max(longest, delayOf(bytes) / rendition.track.timescale);
    }
    return longest;
  }

  async #cutSound(
    parent: MediaIndex,
    rendition: StoredRendition,
    { segment, fromTicks, toTicks }: ClipPiece,
  ): Promise<FragmentSample[]> {
    const samples = readSamples(await buffer(await this.#read(parent, rendition, segment)));
    return samples.filter(({ time }) => time >= fromTicks && time < toTicks);
  }

  #readWhole({ keyPrefix }: MediaIndex, { rendition }: StoredRendition, segment: StoredSegment) {
    const { store } = this.#settings;
    const key = `${keyPrefix}${rendition}/${segment.span}`;
    return asOneFragment(segment, async function* (range) {
      yield* await store.read(key, range);
    });
  }

  #read({ keyPrefix }: MediaIndex, { rendition }: StoredRendition, { span, offset, length }: StoredSegment) {
    return this.#settings.store.read(`${keyPrefix}${rendition}/${span}`, { start: offset, end: offset + length - 1 });
  }

  async #readInit({ keyPrefix }: MediaIndex, { rendition }: StoredRendition, init: string): Promise<Uint8Array> {
    return buffer(await this.#settings.store.read(`${keyPrefix}${rendition}/${init}`));
  }

  async #mp4(index: MediaIndex, made: MadeFiles): Promise<StaticMp4> {
    const readInit = (of: string, init: string): Promise<Uint8Array | null> => made.read(`${of}/${init}`);
    const shown = index.renditions.find(({ track }) => track.kind === "video") ?? index.renditions[0];
    const rendition = shown?.rendition ?? "audio";
    const { size } = await ArchiveMp4.build(index, readInit, this.#slices, rendition);
    const { width, height } = shown?.track ?? {};
    return { name: "source", rendition, bytes: size, ...(width && height && { width, height }) };
  }
}

/** Reorder delay of a segment's first picture: pictures that are shown later may be decoded before it. */
function delayOf(segment: Uint8Array): number {
  const [first] = readSamples(segment);
  return first ? first.time - first.decodeTime : 0;
}

function specOf({ fromSeconds, toSeconds, tracks }: ClipPlan, { bytes = 0 }: StaticMp4): VideoSpec {
  const duration = Math.round((toSeconds - fromSeconds) * 1000) / 1000;
  return {
    format: "mp4",
    duration,
    bitrate: Math.round((bytes * 8) / duration),
    tracks: tracks.map(({ rendition: { track } }) =>
      track.kind === "video"
        ? { type: "video", codec: track.codec === "avc" ? "h264" : track.codec, ...sizeOf(track) }
        : {
            type: "audio",
            codec: track.codec,
            ...(track.channels && { channels: track.channels }),
            ...(track.sampleRate && { sampleRate: track.sampleRate }),
          },
    ),
  };
}

function sizeOf({ width, height, frameRate }: StoredRendition["track"]) {
  return { ...(width && height && { width, height }), ...(frameRate && { fps: frameRate }) };
}
