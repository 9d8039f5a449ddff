import { type Frame, Packet } from "node-av/lib";
import { TICKS_PER_SECOND, type VideoTrack } from "../packet.ts";
import { LiveRung } from "../transcode/live-rung.ts";
import type { FrameSegment } from "../transcode/segment-cuts.ts";
import type { FromChild, TranscodeStart } from "../transcode/transcode-protocol.ts";
import { orientationOf } from "./file-spec.ts";
import { PictureDecoder } from "./picture-decoder.ts";
import { PictureFilter } from "./picture-filter.ts";
import { FileRefused } from "./refusal.ts";
import { SegmentWriter, type Send } from "./segment-writer.ts";
import { SourceFile } from "./source-file.ts";
import type { EncodeJob, NamedRung, SegmentStart } from "./vod-protocol.ts";

/** Of FFmpeg's AVFieldOrder. */
const PROGRESSIVE = new Set([0, 1]);
/** The first picture behind a seek may lie so far behind the place that was asked for: files round times. */
const SEEK_TOLERANCE_TICKS = TICKS_PER_SECOND / 20;
const PROGRESS_PICTURES = 15;

/** Make the segments of a job in all its rungs; each picture is decoded once. Throws `FileRefused`. */
export async function encodeChunk(
  [first, second]: readonly [number, number],
  job: EncodeJob,
  send: Send,
): Promise<void> {
  const rungs: VodRung[] = [];
  for (const rung of job.rungs) rungs.push(await VodRung.open(rung, job, send));
  rungs.sort((a, b) => b.live.pixels - a.live.pixels);
  const startTicks = job.segments[0]?.ticks ?? 0;
  if (!(await decodeFrom(first, job, rungs, startTicks, send)))
    // The file's index leads elsewhere: everything before is decoded too.
    await decodeFrom(second, job, rungs, null, send);
  for (const rung of rungs) await rung.end(job.endTicks);
}

/** False when the pictures begin later than they should, and none was encoded. */
async function decodeFrom(
  descriptor: number,
  job: EncodeJob,
  rungs: readonly VodRung[],
  from: number | null,
  send: Send,
) {
  const file = await SourceFile.open(descriptor);
  const { offsetTicks, stream } = job.picture;
  if (file.video?.index !== stream)
    throw new FileRefused("The tracks of this file are not always the same. Export it again.");
  if (from !== null && job.segments[0]?.msn !== 1) file.seek(from - offsetTicks);
  const chunk = new Chunk(job, rungs, from !== null && job.segments[0]?.msn !== 1, send);
  const { codecpar } = file.video.stream;
  const { fieldOrder } = codecpar.toJSON() as { fieldOrder?: number };
  const filter = new PictureFilter(orientationOf(file.video.stream), !PROGRESSIVE.has(fieldOrder ?? 0));
  const decoder = await PictureDecoder.open(file.video);
  const onPicture = (picture: Frame, fileTicks: number): Promise<void> => {
    const ticks = fileTicks + offsetTicks;
    return chunk.isWanted(ticks) ? filter.take(picture, ticks, chunk.take) : Promise.resolve();
  };
  const packet = new Packet();
  packet.alloc();
  for (let track = file.read(packet); track && !chunk.isOver; track = file.read(packet)) {
    if (track === file.video) await decoder.decode(packet, onPicture);
    packet.unref();
  }
  if (!chunk.isOver) await decoder.finish(onPicture);
  await filter.finish(chunk.take);
  packet.free();
  await file.close();
  return !chunk.beganLate;
}

/** Which pictures are encoded, and in which segment each of them is. */
class Chunk {
  readonly #job: EncodeJob;
  readonly #rungs: readonly VodRung[];
  readonly #send: Send;
  #mayBeginLate: boolean;
  #segment = -1;
  #lastTicks = Number.NEGATIVE_INFINITY;
  #pictures = 0;
  isOver = false;
  beganLate = false;

  constructor(job: EncodeJob, rungs: readonly VodRung[], mayBeginLate: boolean, send: Send) {
    this.#job = job;
    this.#rungs = rungs;
    this.#mayBeginLate = mayBeginLate;
    this.#send = send;
  }

  isWanted(ticks: number): boolean {
    const { segments, endTicks } = this.#job;
    const start = segments[0]?.ticks ?? 0;
    if (this.#mayBeginLate && ticks > start + SEEK_TOLERANCE_TICKS) this.beganLate = true;
    this.#mayBeginLate = false;
    if (ticks >= endTicks || this.beganLate) this.isOver = true;
    // Interlaced pictures need the one before and the one behind them, but what a cut begins with is no continuation.
    return !this.isOver && ticks >= start;
  }

  readonly take = async (picture: Frame, ticks: number): Promise<void> => {
    // Damaged files repeat times, and encoders take none twice.
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

/** One rung: its encoder, and its segments. */
class VodRung {
  readonly live: LiveRung;
  readonly #writer: SegmentWriter;
  #msn = 0;

  private constructor(live: LiveRung, writer: SegmentWriter) {
    this.live = live;
    this.#writer = writer;
  }

  static async open(rung: NamedRung, { epoch, preset, picture }: EncodeJob, send: Send): Promise<VodRung> {
    // Pixels are square by now, so the source's own shape is no matter.
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
    made = new VodRung(live, new SegmentWriter({ rendition: rung.rendition, track, epoch, send }));
    return made;
  }

  take(message: FromChild): void {
    if (message.type !== "packet") return;
    const { msn, pts, isIndependent, data } = message;
    if (msn !== this.#msn) this.#writer.begin(msn);
    this.#msn = msn;
    this.#writer.add({ time: pts, decodeTime: pts, isIndependent, data });
  }

  async end(ticks: number): Promise<void> {
    await this.live.idle();
    this.#writer.end(ticks);
  }
}
