import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type FragmentSample, readSamples } from "@weir/formats/mp4";
import { Slices } from "../../platform/slices.ts";
import { ObjectNotFound } from "../../platform/storage/object-store.ts";
import type {
  ClipMaker,
  ClipWork,
  MadeMedia,
  MediaIndex,
  StaticMp4,
  StoredRendition,
  StoredSegment,
  TaskRun,
  VideoSpec,
} from "../../ports/index.ts";
import { asOneFragment } from "../stored/one-fragment.ts";
import { staticMp4 } from "../stored/static-mp4.ts";
import { StoredFiles } from "../stored/stored-files.ts";
import { StoredMedia } from "../stored/stored-media.ts";
import type { AssetPipelineSettings } from "../vod/asset-pipeline.ts";
import { FileRefused } from "../vod/refusal.ts";
import { type ClipPiece, type ClipPlan, type ClipTrack, planClip } from "./clip-plan.ts";
import { ClipRendition } from "./clip-rendition.ts";
import { edgeJob } from "./edge-job.ts";
import { readWindow } from "./kept-window.ts";

export interface ClipPipelineSettings extends Pick<AssetPipelineSettings, "clock" | "store" | "children" | "preset"> {
  /** For the segments that are being re-encoded. */
  readonly folder: string;
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

  async make(work: ClipWork, { signal, progressed }: TaskRun): Promise<MadeMedia> {
    const { store } = this.#settings;
    const made = new StoredFiles(store, work.outPrefix);
    const parent = new StoredMedia(work.parent, store);
    const plan = planClip(work.parent, work.fromMs, work.toMs);
    if (!plan) throw new FileRefused(NOTHING_THERE);
    const folder = await mkdtemp(join(this.#settings.folder, "clip-"));
    try {
      const beginSeconds = plan.fromSeconds - (await this.#longestDelay(parent, plan));
      const renditions: StoredRendition[] = [];
      for (const [nth, track] of plan.tracks.entries()) {
        signal.throwIfAborted();
        renditions.push(await this.#cut(parent, made, beginSeconds, track, { folder, signal }));
        await progressed((nth + 1) / plan.tracks.length);
      }
      const index = { id: work.assetId, projectId: work.projectId, keyPrefix: work.outPrefix, renditions };
      const mp4 = await staticMp4(new StoredMedia(index, store), this.#slices, "source");
      return { spec: specOf(plan, mp4), media: { ...index, mp4s: [mp4] } };
    } catch (error) {
      if (error instanceof FileRefused) await made.dropAll();
      throw error;
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
    parent: StoredMedia,
    files: StoredFiles,
    beginSeconds: number,
    { rendition, pieces }: ClipTrack,
    workplace: Workplace,
  ): Promise<StoredRendition> {
    const { timescale, kind, codec } = rendition.track;
    const isEncoded = ({ isWhole }: ClipPiece): boolean => !isWhole && codec === "avc";
    const copiedInits = new Set(pieces.filter((piece) => !isEncoded(piece)).map(({ segment }) => segment.init));
    const cut = new ClipRendition({
      ...{ files, rendition },
      earlierTicks: Math.round(beginSeconds * timescale),
      hasSeveralInits: copiedInits.size + pieces.filter(isEncoded).length > 1,
    });
    for (const init of copiedInits) await cut.putInit(init, await initOf(parent, rendition.rendition, init));
    for (const piece of pieces) {
      workplace.signal.throwIfAborted();
      const isCut = !piece.isWhole;
      if (isEncoded(piece)) await this.#encode(parent, rendition, piece, workplace, cut);
      else if (isCut && kind === "audio") await cut.addSamples(piece, await this.#cutSound(parent, rendition, piece));
      else await cut.copy(piece, readWhole(parent, rendition.rendition, piece.segment));
    }
    return cut.end();
  }

  /** Re-encodes the pictures of a piece. */
  async #encode(
    parent: StoredMedia,
    rendition: StoredRendition,
    piece: ClipPiece,
    { folder, signal }: Workplace,
    cut: ClipRendition,
  ): Promise<void> {
    const path = join(folder, `${rendition.rendition}-${piece.msn}.mp4`);
    const init = await initOf(parent, rendition.rendition, piece.segment.init);
    const parentBytes = await buffer(parent.read(rendition.rendition, piece.segment));
    await writeFile(path, [init, parentBytes], { mode: 0o600 });
    const job = edgeJob(rendition, piece, delayOf(parentBytes) / rendition.track.timescale, this.#settings.preset);
    await using children = this.#settings.children.of(path);
    await children.run(
      job,
      async ({ message, data }) => {
        if (message.type === "init") await cut.putInit(message.file, data);
        if (message.type !== "span") return;
        for (const row of message.segments)
          await cut.addEncoded(piece, row, data.subarray(row.offset, row.offset + row.length));
      },
      signal,
    );
    await rm(path);
  }

  /**
   * The longest reorder delay of the first pictures, in seconds. The clip's timeline starts this much before them, so that no decode time is
   * negative.
   */
  async #longestDelay(parent: StoredMedia, { tracks }: ClipPlan): Promise<number> {
    let longest = 0;
    for (const { rendition, pieces } of tracks) {
      const [first] = pieces;
      if (!first || rendition.track.kind !== "video") continue;
      const bytes = await buffer(parent.read(rendition.rendition, first.segment));
      longest = Math.max(longest, delayOf(bytes) / rendition.track.timescale);
    }
    return longest;
  }

  async #cutSound(
    parent: StoredMedia,
    rendition: StoredRendition,
    { segment, fromTicks, toTicks }: ClipPiece,
  ): Promise<FragmentSample[]> {
    const samples = readSamples(await buffer(parent.read(rendition.rendition, segment)));
    return samples.filter(({ time }) => time >= fromTicks && time < toTicks);
  }
}

async function initOf(parent: StoredMedia, rendition: string, init: string): Promise<Uint8Array> {
  const bytes = await parent.readInit(rendition, init);
  if (!bytes) throw new ObjectNotFound(parent.keyOf(rendition, init));
  return bytes;
}

function readWhole(parent: StoredMedia, rendition: string, segment: StoredSegment): AsyncIterable<Uint8Array> {
  return asOneFragment(segment, (range) => parent.readSpan(rendition, segment.span, range));
}

/** Reorder delay of a segment's first picture: pictures that are shown later may be decoded before it. */
function delayOf(segment: Uint8Array): number {
  const [first] = readSamples(segment);
  return first ? first.time - first.decodeTime : 0;
}

function specOf({ fromSeconds, toSeconds, skippedSeconds, tracks }: ClipPlan, { bytes = 0 }: StaticMp4): VideoSpec {
  const duration = Math.round((toSeconds - fromSeconds - skippedSeconds) * 1000) / 1000;
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
