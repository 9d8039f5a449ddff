import { fstatSync } from "node:fs";
import { Packet } from "node-av/lib";
import { TICKS_PER_SECOND } from "../packet.ts";
import type { EncodedAudio } from "../transcode/audio-reencoder.ts";
import { AudioCopy } from "./audio-copy.ts";
import { AudioEncoder } from "./audio-encoder.ts";
import { AudioLine } from "./audio-line.ts";
import { checkLength, displaySize, MAX_FILE_SECONDS, NO_PICTURE, specOf } from "./file-spec.ts";
import { CannotCopy, FileRefused } from "./refusal.ts";
import { SegmentStarts } from "./segment-starts.ts";
import { SegmentWriter, type Send } from "./segment-writer.ts";
import { SourceFile, type SourceTrack, ticksOf } from "./source-file.ts";
import { TrackGaps } from "./track-gaps.ts";
import { VideoCopy } from "./video-copy.ts";
import type { ScanJob, ScannedFile, ScannedPicture } from "./vod-protocol.ts";

/** A longer reordering delay is considered wrong. */
const MAX_REORDER_TICKS = 2 * TICKS_PER_SECOND;
const ASSUMED_FRAME_RATE = 30;
/** Smaller backward steps are corrected: the picture directly follows the previous one. */
const MAX_STEP_BACK_TICKS = TICKS_PER_SECOND;
/** A file whose audio and video are interleaved further apart cannot be processed in one pass. */
const MAX_HELD_BYTES = 128 * 1024 * 1024;
const MAX_SEGMENT_BYTES = 32 * 1024 * 1024;
const PROGRESS_PACKETS = 256;
/** Formats whose header declares the duration. A file that ends much earlier is truncated. */
const SAYS_DURATION = /^(mov|mp4|matroska|avi|wav)$/;
const MISSING_SECONDS = 3;
const MISSING_PART = 0.1;

/**
 * Reads the file once: reports its content, makes the source rendition if players can play it, and the audio. Throws `FileRefused` and `CannotCopy`.
 */
export async function scanFile(
  [look, read]: readonly [number, number],
  job: ScanJob,
  send: Send,
): Promise<ScannedFile> {
  const bytes = fstatSync(read).size;
  const first = await SourceFile.open(look);
  const spec = specOf(first, bytes);
  send({ type: "spec", spec });
  const claimed = SAYS_DURATION.test(spec.format) ? claimedSeconds(first, spec.duration) : 0;
  const offsetTicks = offsetOf(first);
  await first.close();
  const file = await SourceFile.open(read);
  const scan = new FileScan(file, job, offsetTicks, bytes, send);
  const picture = await scan.run();
  const seconds = scan.seconds;
  if (seconds < claimed * (1 - MISSING_PART) - MISSING_SECONDS)
    throw new FileRefused(
      `This file is truncated: it declares ${Math.round(claimed)} seconds and ends after ${Math.round(seconds)}. Upload it again, or export it again.`,
    );
  if (seconds <= 0) throw new FileRefused("The video and audio of this file have no duration. Export it again.");
  await file.close();
  // For formats without a declared duration, FFmpeg only estimates it.
  const duration = claimed > 0 ? spec.duration : Math.round(seconds * 1000) / 1000;
  return { spec: { ...spec, duration }, picture };
}

/** Duration of the tracks that are played, since others may be longer. Some files declare only a total duration. */
function claimedSeconds({ video, audio }: SourceFile, wholeSeconds: number): number {
  const own = [video, audio].flatMap((track) => {
    const seconds = track && Number(track.stream.duration) * (track.stream.timeBase.num / track.stream.timeBase.den);
    return seconds !== null && seconds > 0 ? [seconds] : [];
  });
  return own.length > 0 ? Math.max(...own) : wholeSeconds;
}

/**
 * What is added to the file's timestamps, in ticks. The timeline starts at the decode time of the first keyframe, so that no decode time is negative;
 * without video, at the first audio frame.
 */
function offsetOf(file: SourceFile): number {
  const packet = new Packet();
  packet.alloc();
  try {
    for (let track = file.read(packet); track; packet.unref(), track = file.read(packet)) {
      if (track === "other" || (file.video && (track !== file.video || !packet.isKeyframe))) continue;
      const { stream } = track;
      const dts = ticksOf(packet.dts, stream);
      const pts = ticksOf(packet.pts, stream) ?? dts;
      if (pts === null) continue;
      const delay = file.video ? (stream.codecpar.videoDelay * TICKS_PER_SECOND) / frameRateOf(file.video) : 0;
      const reorder = Math.round(dts === null ? delay : pts - dts);
      return Math.min(Math.max(0, reorder), MAX_REORDER_TICKS) - pts;
    }
  } finally {
    packet.free();
  }
  throw new FileRefused(
    file.video
      ? "The video track of this file has no keyframe. The file is damaged or truncated; export it again."
      : "The audio track of this file is empty. Export it again.",
  );
}

function frameRateOf({ stream }: SourceTrack): number {
  const { num, den } = stream.avgFrameRate;
  return num > 0 && den > 0 ? num / den : ASSUMED_FRAME_RATE;
}

class FileScan {
  readonly #file: SourceFile;
  readonly #job: ScanJob;
  readonly #offset: number;
  readonly #bytes: number;
  readonly #send: Send;
  readonly #starts: SegmentStarts;
  readonly #copy: VideoCopy | null;
  readonly #video: SegmentWriter | null;
  readonly #packet = new Packet();
  readonly #gaps: { readonly video: TrackGaps; readonly audio: TrackGaps };
  #sound: SoundScan | null = null;
  #videoBytes = 0;
  #segmentBytes = 0;
  #frames = 0;
  #lastDecode = -1;
  #endTicks = 0;
  #lastFrameTicks = 0;

  constructor(file: SourceFile, job: ScanJob, offsetTicks: number, bytes: number, send: Send) {
    this.#file = file;
    this.#job = job;
    this.#offset = offsetTicks;
    this.#bytes = bytes;
    this.#gaps = { video: new TrackGaps("video", bytes), audio: new TrackGaps("audio", bytes) };
    this.#send = send;
    this.#copy = file.video && job.mayCopyVideo ? VideoCopy.of(file.video) : null;
    this.#starts = new SegmentStarts(job.segmentSeconds, this.#copy !== null);
    const { epoch } = job;
    this.#video = this.#copy && new SegmentWriter({ rendition: "source", track: this.#copy.track, epoch, send });
    this.#packet.alloc();
  }

  get seconds(): number {
    return Math.max(this.#endTicks / TICKS_PER_SECOND, this.#sound?.seconds ?? 0);
  }

  async run(): Promise<ScannedPicture | null> {
    const { video, audio } = this.#file;
    const { width, height } = video?.stream.codecpar ?? NO_PICTURE;
    const sides = { width, height };
    let packets = 0;
    for (let track = this.#file.read(this.#packet); track; track = this.#file.read(this.#packet)) {
      if (track === video) this.#takePicture(video);
      else if (track === audio) await this.#takeSound(audio);
      if (++packets % PROGRESS_PACKETS === 0) this.#tellProgress();
      checkLength(sides, this.#frames, this.seconds);
      this.#packet.unref();
    }
    if (video && this.#frames === 0) throw new FileRefused("The video track of this file is empty. Export it again.");
    this.#video?.end(this.#lastDecode + this.#lastFrameTicks);
    this.#sound?.finish();
    return video && this.#picture(video);
  }

  #takePicture(track: SourceTrack): void {
    const { stream } = track;
    const packet = this.#packet;
    const fileDts = ticksOf(packet.dts, stream);
    const filePts = ticksOf(packet.pts, stream);
    if (filePts === null && this.#copy && stream.codecpar.videoDelay > 0)
      throw new CannotCopy("the file has no presentation timestamps");
    const pts = filePts ?? fileDts;
    if (pts === null) return;
    const time = pts + this.#offset;
    const unit = this.#copy?.unitOf(packet);
    const isKeyframe = unit?.isIndependent ?? packet.isKeyframe;
    if (this.#frames === 0 && !isKeyframe) return;
    this.#gaps.video.reach(time);
    const size = packet.size;
    if (fileDts !== null && fileDts + this.#offset < this.#lastDecode - MAX_STEP_BACK_TICKS)
      throw new FileRefused(
        `The timestamps of this file jump back after ${Math.round(this.#lastDecode / TICKS_PER_SECOND)} seconds, as if several files were joined. Export it again as one file.`,
      );
    // Matroska gives no decode time to the first pictures, which are decoded in sequence before the first is shown.
    const unsaid = this.#lastDecode < 0 ? 0 : Math.min(time, this.#lastDecode + this.#lastFrameTicks);
    const decodeTime = Math.max(fileDts === null ? unsaid : fileDts + this.#offset, this.#lastDecode + 1);
    if (this.#starts.take(time, isKeyframe, this.#segmentBytes)) {
      this.#video?.begin(this.#starts.last?.msn ?? 1);
      this.#segmentBytes = 0;
    }
    this.#segmentBytes += size;
    if (this.#copy && this.#segmentBytes > MAX_SEGMENT_BYTES)
      throw new CannotCopy("its GOPs are too large for a segment");
    if (unit)
      this.#video?.add({
        time: Math.max(time, decodeTime),
        decodeTime,
        isIndependent: unit.isIndependent,
        data: unit.data,
      });
    this.#videoBytes += size;
    this.#frames++;
    const own = ticksOf(packet.duration, stream) ?? 0;
    this.#lastFrameTicks = own > 0 ? own : Math.round(TICKS_PER_SECOND / frameRateOf(track));
    this.#lastDecode = decodeTime;
    this.#gaps.video.reach(time + this.#lastFrameTicks);
    this.#endTicks = Math.max(this.#endTicks, time + this.#lastFrameTicks);
    this.#sound?.write(decodeTime);
  }

  async #takeSound(track: SourceTrack): Promise<void> {
    const fileTicks = ticksOf(this.#packet.pts, track.stream);
    const ticks = fileTicks === null ? null : fileTicks + this.#offset;
    if (ticks !== null && ticks <= MAX_FILE_SECONDS * TICKS_PER_SECOND) this.#gaps.audio.reach(ticks);
    this.#sound ??= await SoundScan.open(
      track,
      this.#packet.data ?? Buffer.alloc(0),
      this.#starts,
      this.#job.epoch,
      this.#send,
    );
    this.#sound.take(this.#packet, ticks);
    if (!this.#file.video) this.#sound.write(Number.POSITIVE_INFINITY);
  }

  #tellProgress(): void {
    const at = Number(this.#packet.pos);
    if (at > 0) this.#send({ type: "progress", done: Math.min(1, at / Math.max(1, this.#bytes)) });
  }

  #picture({ stream, index }: SourceTrack): ScannedPicture {
    const seconds = (this.#endTicks - (this.#starts.all[0]?.ticks ?? 0)) / TICKS_PER_SECOND;
    return {
      stream: index,
      offsetTicks: this.#offset,
      ...displaySize(stream),
      frameRate: this.#frames / Math.max(seconds, 0.001),
      bitrateBps: Math.round((this.#videoBytes * 8) / Math.max(seconds, 0.001)),
      isCopied: this.#copy !== null,
      segments: this.#starts.all.filter(({ ticks }) => ticks < this.#endTicks),
      endTicks: this.#endTicks,
    };
  }
}

/** The audio of a file, segmented at the same times as the video. */
class SoundScan {
  readonly #source: AudioCopy | AudioEncoder;
  readonly #line: AudioLine;
  readonly #writer: SegmentWriter;
  readonly #starts: SegmentStarts;
  readonly #rate: number;
  readonly #frameSamples: number;
  readonly #held: EncodedAudio[] = [];
  #heldBytes = 0;
  #segment = -1;
  #end = 0;

  private constructor(source: AudioCopy | AudioEncoder, starts: SegmentStarts, epoch: number, send: Send) {
    const { track } = source;
    this.#source = source;
    this.#starts = starts;
    this.#rate = track.sampleRate;
    this.#frameSamples = track.frameSamples;
    this.#line = new AudioLine(track);
    this.#writer = new SegmentWriter({ rendition: "audio", track, epoch, send });
  }

  static async open(track: SourceTrack, first: Uint8Array, starts: SegmentStarts, epoch: number, send: Send) {
    return new SoundScan(AudioCopy.of(track, first) ?? (await AudioEncoder.open(track)), starts, epoch, send);
  }

  get seconds(): number {
    return this.#end / this.#rate;
  }

  take(packet: Packet, ticks: number | null): void {
    const source = this.#source;
    if (source instanceof AudioEncoder) this.#hold(source.take(packet, ticks));
    else this.#hold(this.#line.place(ticks, source.frameOf(packet.data ?? Buffer.alloc(0))));
  }

  /** Writes the frames before `untilTicks`, the time before which no segment will start any more. */
  write(untilTicks: number): void {
    let written = 0;
    for (const frame of this.#held) {
      const ticks = Math.floor((frame.time * TICKS_PER_SECOND) / this.#rate);
      if (ticks >= untilTicks) break;
      if (untilTicks === Number.POSITIVE_INFINITY) this.#starts.fill(ticks);
      this.#place(frame, ticks);
      this.#heldBytes -= frame.data.byteLength;
      written++;
    }
    this.#held.splice(0, written);
  }

  finish(): void {
    if (this.#source instanceof AudioEncoder) this.#hold(this.#source.finish());
    this.write(Number.POSITIVE_INFINITY);
    this.#writer.end(this.#end);
  }

  #place({ time, data }: EncodedAudio, ticks: number): void {
    const { all } = this.#starts;
    while (this.#segment + 1 < all.length && (this.#segment < 0 || (all[this.#segment + 1]?.ticks ?? 0) <= ticks)) {
      this.#segment++;
      const next = all[this.#segment + 1];
      if (!next || next.ticks > ticks) this.#writer.begin(all[this.#segment]?.msn ?? 1);
    }
    this.#writer.add({ time, decodeTime: time, isIndependent: true, data }, this.#frameSamples);
    this.#end = time + this.#frameSamples;
  }

  #hold(frames: Iterable<EncodedAudio>): void {
    for (const frame of frames) {
      this.#held.push(frame);
      this.#heldBytes += frame.data.byteLength;
    }
    if (this.#heldBytes > MAX_HELD_BYTES)
      throw new FileRefused("The audio and video of this file are interleaved too far apart. Export it again as MP4.");
  }
}
