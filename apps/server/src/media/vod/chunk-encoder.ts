import { type Frame, Packet } from "node-av/lib";
import type { Rung } from "../ladder/ladder-plan.ts";
import { TICKS_PER_SECOND, type VideoTrack } from "../packet.ts";
import { LiveRung } from "../transcode/live-rung.ts";
import type { FrameSegment } from "../transcode/segment-cuts.ts";
import type { FromChild, TranscodeStart } from "../transcode/transcode-protocol.ts";
import { isInterlaced, orientationOf } from "./file-spec.ts";
import { PictureDecoder } from "./picture-decoder.ts";
import { PictureFilter } from "./picture-filter.ts";
import { FileRefused } from "./refusal.ts";
import { SegmentWriter, type Send } from "./segment-writer.ts";
import { SourceFile } from "./source-file.ts";
import type { EncodeJob, SegmentStart } from "./vod-protocol.ts";

/** How far the first picture after a seek may be behind the requested time: containers round timestamps. */
const SEEK_TOLERANCE_TICKS = TICKS_PER_SECOND / 20;
const PROGRESS_PICTURES = 15;

/** Encodes the segments of a job in all its rungs, decoding each picture once. Throws `FileRefused`. */
export async function encodeChunk(sources: readonly [number, number], job: EncodeJob, send: Send): Promise<void> {
  const rungs: VodRung[] = [];
  for (const rung of job.rungs) rungs.push(await VodRung.open(rung, job, send));
  rungs.sort((a, b) => b.live.pixels - a.live.pixels);
  await decodeChunk(sources, job, rungs, send);
  for (const rung of rungs) await rung.end(job.endTicks);
}

/**
 * Seeking by timestamp may land too late in files without an index, whose order is the decoding order. The second attempt seeks one second earlier.
 */
const EARLIER_TICKS = [0, TICKS_PER_SECOND];

/** Decodes the job's part of the file. If seeking does not work, it decodes everything before it too. */
async function decodeChunk(
  [first, second]: readonly [number, number],
  job: EncodeJob,
  rungs: readonly VodRung[],
  send: Send,
): Promise<void> {
  const [start] = job.segments;
  const isFirst = start?.msn === 1;
  const file = await SourceFile.open(first);
  for (const earlier of isFirst ? [] : EARLIER_TICKS) {
    file.seek((start?.ticks ?? 0) - earlier - job.picture.offsetTicks);
    if (await decodeFrom(file, job, new Chunk(job, rungs, true, send))) return file.close();
  }
  await file.close();
  const whole = await SourceFile.open(second);
  await decodeFrom(whole, job, new Chunk(job, rungs, false, send));
  await whole.close();
}

/** False if decoding started after the requested time; nothing was encoded then. */
async function decodeFrom(file: SourceFile, { picture }: EncodeJob, chunk: Chunk): Promise<boolean> {
  const { video } = file;
  if (video?.index !== picture.stream)
    throw new FileRefused("The tracks of this file differ each time it is read. Export it again.");
  const filter = new PictureFilter(orientationOf(video.stream), isInterlaced(video.stream));
  const decoder = await PictureDecoder.open(video);
  const onPicture = (decoded: Frame, fileTicks: number): Promise<void> => {
    const ticks = fileTicks + picture.offsetTicks;
    return chunk.isWanted(ticks) ? filter.take(decoded, ticks, chunk.take) : Promise.resolve();
  };
  const packet = new Packet();
  packet.alloc();
  for (let track = file.read(packet); track && !chunk.isOver; track = file.read(packet)) {
    if (track === video) await decoder.decode(packet, onPicture);
    packet.unref();
  }
  if (!chunk.isOver) await decoder.finish(onPicture);
  await filter.finish(chunk.take);
  packet.free();
  decoder.free();
  filter.free();
  return !chunk.isUnsure;
}

/** Selects the pictures to encode, and assigns each to its segment. */
class Chunk {
  readonly #job: EncodeJob;
  readonly #rungs: readonly VodRung[];
  readonly #send: Send;
  /** True until a picture proves that the seek did not land after the requested time. */
  isUnsure: boolean;
  #segment = -1;
  #lastTicks = Number.NEGATIVE_INFINITY;
  #pictures = 0;
  isOver = false;

  constructor(job: EncodeJob, rungs: readonly VodRung[], isUnsure: boolean, send: Send) {
    this.#job = job;
    this.#rungs = rungs;
    this.isUnsure = isUnsure;
    this.#send = send;
  }

  isWanted(ticks: number): boolean {
    const { segments, endTicks } = this.#job;
    const start = segments[0]?.ticks ?? 0;
    if (ticks <= start + SEEK_TOLERANCE_TICKS) this.isUnsure = false;
    if (ticks >= endTicks || this.isUnsure) this.isOver = true;
    return !this.isOver && ticks >= start;
  }

  readonly take = async (picture: Frame, ticks: number): Promise<void> => {
    // Damaged files repeat timestamps, which encoders reject.
    if (ticks <= this.#lastTicks) return;
    this.#lastTicks = ticks;
    const segment = this.#segmentAt(ticks);
    let larger = picture;
    for (const rung of this.#rungs) larger = (await rung.live.take(larger, picture, ticks, segment)) ?? larger;
    if (++this.#pictures % PROGRESS_PICTURES === 0) this.#tellProgress(ticks);
  };

  #segmentAt(ticks: number): FrameSegment {
    const { segments } = this.#job;
    const before = this.#segment;
    while ((segments[this.#segment + 1]?.ticks ?? Number.POSITIVE_INFINITY) <= ticks || this.#segment < 0)
      this.#segment++;
    const { msn, ticks: start } = segments[this.#segment] as SegmentStart;
    return { msn, ticks: start, isNew: this.#segment !== before };
  }

  #tellProgress(ticks: number): void {
    const { segments, endTicks } = this.#job;
    const start = segments[0]?.ticks ?? 0;
    this.#send({ type: "progress", done: Math.min(1, (ticks - start) / Math.max(1, endTicks - start)) });
  }
}

/** One rung: its encoder and its segments. */
class VodRung {
  readonly live: LiveRung;
  readonly #writer: SegmentWriter;
  readonly #delayTicks: number;
  #msn = 0;

  private constructor(live: LiveRung, writer: SegmentWriter, delayTicks: number) {
    this.live = live;
    this.#writer = writer;
    this.#delayTicks = delayTicks;
  }

  static async open(rung: Rung, { epoch, preset, picture, delayTicks }: EncodeJob, send: Send): Promise<VodRung> {
    // Pixels are square at this point, so the source's aspect ratio is irrelevant.
    const video = { codec: "av1", config: "", width: picture.width, height: picture.height } as const;
    const start: TranscodeStart = { video, rungs: [], preset, encoder: "libx264" };
    let made: VodRung | null = null;
    const live = await LiveRung.open(rung, start, (message) => made?.take(message));
    const config = Buffer.from(live.ready.config, "base64");
    const { width, height, frameRate } = rung;
    const rate = frameRate ? frameRate.num / frameRate.den : picture.frameRate;
    const shape = { width, height, frameRate: Math.round(rate * 1000) / 1000 };
    const track: VideoTrack = {
      id: 0,
      kind: "video",
      codec: "avc",
      config,
      codecString: live.ready.codecString,
      ...shape,
    };
    made = new VodRung(live, new SegmentWriter({ rendition: rung.id, track, epoch, send }), delayTicks);
    return made;
  }

  take(message: FromChild): void {
    if (message.type !== "packet") return;
    const { msn, pts, isIndependent, data } = message;
    if (msn !== this.#msn) this.#writer.begin(msn);
    this.#msn = msn;
    this.#writer.add({ time: pts, decodeTime: pts - this.#delayTicks, isIndependent, data });
  }

  async end(ticks: number): Promise<void> {
    await this.live.idle();
    this.#writer.end(ticks - this.#delayTicks);
    // The process continues with the next chunk, and garbage collection does not see the encoder's memory.
    this.live.free();
  }
}
