import type { Clock } from "../../platform/clock.ts";
import type { Turns } from "../../platform/limits/turns.ts";
import type { Log } from "../../platform/log.ts";
import { Slices } from "../../platform/slices.ts";
import { ObjectNotFound, type ObjectStore } from "../../platform/storage/object-store.ts";
import type { AssetProcessor, AssetRun, AssetWork, MadeMedia, MediaIndex, StaticMp4 } from "../../ports/index.ts";
import type { Rung } from "../ladder/ladder-plan.ts";
import { staticMp4 } from "../stored/static-mp4.ts";
import { StoredFiles } from "../stored/stored-files.ts";
import { StoredMedia } from "../stored/stored-media.ts";
import { renditionOf, secondsOf } from "../stored/stored-rendition.ts";
import { planAsset } from "./asset-ladder.ts";
import { type Chunk, planChunks } from "./chunk-plan.ts";
import { CannotCopy, FileRefused } from "./refusal.ts";
import type { SourceFiles } from "./source-files.ts";
import type { FileChildren, VodChildren } from "./vod-children.ts";
import type { EncodeJob, FramedMessage, MadeSpan, ScanJob, ScannedFile, ScannedPicture } from "./vod-protocol.ts";

/** Players load a whole segment before they show its first frame. */
const SEGMENT_SECONDS = 4;
const MAX_SEGMENT_SECONDS = 10;
/** For longer videos only the source rendition has an MP4, unless the customer asked for more. */
const SHORT_SECONDS = 120;
/** Share of the progress that reading the file accounts for. */
const SCAN_SHARE = 0.1;

export interface AssetPipelineSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: ObjectStore;
  readonly sources: SourceFiles;
  readonly children: VodChildren;
  /** Scans have their own slots: they are short, and an asset cannot be watched before its scan. */
  readonly scans: Turns;
  readonly chunks: Turns;
  /** The x264 preset. */
  readonly preset: string;
}

/** The stored result of a scan: the file, and the spans of the source rendition and the audio. */
interface Scanned {
  readonly file: ScannedFile;
  readonly spans: readonly MadeSpan[];
}

/**
 * Turns a customer's file into everything that plays. One child reads the file and makes the source rendition and the audio; from then on the asset
 * can be watched. Then children encode the rungs, chunk by chunk. Finished work is recorded in the store, so that a run after a crash continues
 * behind it.
 */
export class AssetPipeline implements AssetProcessor {
  readonly #settings: AssetPipelineSettings;
  readonly #slices: Slices;

  constructor(settings: AssetPipelineSettings) {
    this.#settings = settings;
    this.#slices = new Slices(settings.clock);
  }

  async process(work: AssetWork, run: AssetRun): Promise<MadeMedia> {
    const made = new StoredFiles(this.#settings.store, work.outPrefix);
    const { sources } = this.#settings;
    try {
      await using source = await sources.take(work.sourceKey, work.assetId, work.sourceBytes, run.signal);
      await using children = this.#settings.children.of(source.path);
      return await this.#make(work, children, made, run);
    } catch (error) {
      if (error instanceof FileRefused) await made.dropAll();
      throw error instanceof ObjectNotFound ? lostSource(error) : error;
    }
  }

  async #make(work: AssetWork, children: FileChildren, made: StoredFiles, run: AssetRun): Promise<MadeMedia> {
    const { file, spans } = await this.#scan(work, children, made, run);
    await this.#restWhereOthersWait(children);
    const { spec, picture } = file;
    const rungs = picture ? planAsset(picture, work.profiles) : [];
    const begun = indexOf(work, spans, picture, []);
    const isPlayable = !picture || picture.isCopied;
    const isGrowing = rungs.length > 0;
    const mp4s = isPlayable ? [await this.#mp4(begun, "source")] : [];
    await run.scanned(spec, isPlayable ? { ...begun, ...(isGrowing && { isGrowing }), mp4s } : null);
    const encoded = picture ? await this.#encode(work, picture, rungs, children, made, run) : [];
    const index = indexOf(work, [...spans, ...encoded], picture, rungs);
    if (picture && !index.renditions.some(({ track }) => track.kind === "video"))
      throw new FileRefused(
        "No picture of this file can be decoded: the file is damaged. Export it again, or upload it again.",
      );
    return { spec, media: { ...index, mp4s: await this.#mp4sOf(index, rungs, work) } };
  }

  async #scan(work: AssetWork, children: FileChildren, made: StoredFiles, run: AssetRun): Promise<Scanned> {
    const noted = await made.noted<Scanned>("scan");
    if (noted) return noted;
    const segmentSeconds = Math.min(work.targetSegmentSeconds ?? SEGMENT_SECONDS, MAX_SEGMENT_SECONDS);
    const job: ScanJob = { type: "scan", epoch: work.attempt, segmentSeconds, mayCopyVideo: true };
    const scanned = await this.#scanAs(job, children, made, run).catch(async (error: unknown) => {
      if (!(error instanceof CannotCopy)) throw error;
      this.#settings.log.info({ assetId: work.assetId, reason: error.message }, "re-encoding the asset's video");
      await made.dropAll();
      return this.#scanAs({ ...job, mayCopyVideo: false }, children, made, run);
    });
    await made.note("scan", scanned);
    return scanned;
  }

  async #scanAs(job: ScanJob, children: FileChildren, made: StoredFiles, run: AssetRun): Promise<Scanned> {
    const spans: MadeSpan[] = [];
    let file: ScannedFile | null = null;
    const { scans } = this.#settings;
    const onMessage = async (framed: FramedMessage): Promise<void> => {
      const { message } = framed;
      const span = await keep(made, framed);
      if (span) spans.push(span);
      if (message.type === "scanned") file = message.file;
      if (message.type === "progress") await run.progressed(message.done * SCAN_SHARE);
    };
    await scans.run(() => children.run(job, onMessage, run.signal));
    if (!file) throw new Error("a scan ended without a result");
    return { file, spans };
  }

  async #encode(
    work: AssetWork,
    picture: ScannedPicture,
    rungs: readonly Rung[],
    children: FileChildren,
    files: StoredFiles,
    run: AssetRun,
  ): Promise<MadeSpan[]> {
    if (rungs.length === 0) return [];
    const { chunks: turns, preset } = this.#settings;
    const chunks = planChunks(picture);
    const parts = new Map<Chunk, number>();
    const tell = (chunk: Chunk, done: number): Promise<void> => {
      parts.set(chunk, done * chunk.segments.length);
      const sum = [...parts.values()].reduce((total, part) => total + part, 0);
      return run.progressed(SCAN_SHARE + (sum / picture.segments.length) * (1 - SCAN_SHARE));
    };
    // The first failure aborts the other lanes, and `allSettled` waits for them.
    const failing = new AbortController();
    const stop = AbortSignal.any([run.signal, failing.signal]);
    const made: MadeSpan[] = [];
    const left = chunks.values();
    // No more lanes than slots, so that chunks of other assets are encoded in between.
    const lanes = Array.from({ length: Math.min(turns.atATime, chunks.length) }, async () => {
      for (const chunk of left) {
        const spans = await turns.run(async () => {
          stop.throwIfAborted();
          const job = { type: "encode", epoch: work.attempt, picture, rungs, preset, delayTicks: 0, ...chunk } as const;
          return this.#chunk(job, children, files, (done) => tell(chunk, done), stop);
        });
        made.push(...spans);
        await this.#restWhereOthersWait(children);
      }
    });
    for (const lane of lanes) lane.catch((error: unknown) => failing.abort(error));
    await Promise.allSettled(lanes);
    if (stop.aborted) throw stop.reason;
    return made;
  }

  async #chunk(
    job: EncodeJob,
    children: FileChildren,
    made: StoredFiles,
    tell: (done: number) => Promise<void>,
    signal: AbortSignal,
  ): Promise<MadeSpan[]> {
    const name = `chunk-${job.segments[0]?.msn}-${job.segments.at(-1)?.msn}`;
    const noted = await made.noted<MadeSpan[]>(name);
    if (noted) return noted;
    const spans: MadeSpan[] = [];
    await children.run(
      job,
      async (framed) => {
        const span = await keep(made, framed);
        if (span) spans.push(span);
        if (framed.message.type === "progress") await tell(framed.message.done);
      },
      signal,
    );
    await made.note(name, spans);
    await tell(1);
    return spans;
  }

  /** Idle children hold memory, so they end while other work waits for a slot. */
  async #restWhereOthersWait(children: FileChildren): Promise<void> {
    if (!this.#settings.chunks.isFree) await children.rest();
  }

  async #mp4sOf(index: MediaIndex, rungs: readonly Rung[], work: AssetWork): Promise<StaticMp4[]> {
    const mp4s = [await this.#mp4(index, "source")];
    if (!work.staticMp4 && secondsOf(index) > SHORT_SECONDS) return mp4s;
    for (const { name, id: rendition } of rungs) {
      const isMade = rendition !== "source" && index.renditions.some((each) => each.rendition === rendition);
      const isNamed = mp4s.some((each) => each.name === name);
      if (isMade) mp4s.push(await this.#mp4(index, isNamed ? rendition : name, rendition));
    }
    const [source, ...others] = mp4s;
    return [...(source ? [source] : []), ...others.toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0))];
  }

  #mp4(index: MediaIndex, name: string, rendition?: string): Promise<StaticMp4> {
    return staticMp4(new StoredMedia(index, this.#settings.store), this.#slices, name, rendition);
  }
}

/** The index of everything made so far, best video first. */
function indexOf(
  work: AssetWork,
  spans: readonly MadeSpan[],
  picture: ScannedPicture | null,
  rungs: readonly Rung[],
): MediaIndex {
  const { assetId: id, projectId, outPrefix: keyPrefix } = work;
  const audio = spans
    .filter(({ rendition }) => rendition === "audio")
    .flatMap(({ segments }) => segments.map(({ msn }) => msn));
  const video = picture?.segments.map(({ msn }) => msn) ?? [];
  const names = new Set(["source", ...rungs.map(({ id }) => id)]);
  const renditions = [...names].flatMap((name) => renditionOf(name, spans, video) ?? []);
  const sound = renditionOf("audio", spans, audio);
  return { id, projectId, keyPrefix, renditions: [...renditions, ...(sound ? [sound] : [])] };
}

/** Stores the file that a child made. Returns the span if it is one. */
async function keep(made: StoredFiles, { message, data }: FramedMessage): Promise<MadeSpan | null> {
  if (message.type === "init") await made.put(`${message.rendition}/${message.file}`, data);
  if (message.type !== "span") return null;
  await made.put(`${message.rendition}/${message.span}`, data);
  return message;
}

function lostSource({ key }: ObjectNotFound): Error {
  return new Error(`the asset's source file is missing from the object store (${key})`);
}
