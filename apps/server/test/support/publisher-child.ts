import type { Frame, Packet } from "node-av/lib";
import { FlvOutput } from "../../src/media/transcode/flv-output.ts";
import { type GeneratedTrack, openPicture, openTone, TONE_RATE } from "../../src/media/transcode/generated-track.ts";
import { runMediaChild } from "../../src/media/transcode/media-child-main.ts";
import { RealTime } from "../../src/media/transcode/real-time.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { drawNumber } from "./picture-number.ts";
import type { PublisherJob } from "./publisher.ts";

// Long enough to have different pictures, short enough to encode quickly.
const CLIP_SECONDS = 4;
const TONE_BITRATE = 96_000;

runMediaChild(async (job: PublisherJob, begun, signal) => {
  const loops: Loop[] = [];
  const clipSeconds = job.flashes || job.isNumbered ? job.seconds : CLIP_SECONDS;
  if (job.video) {
    const gops = Math.max(1, Math.ceil(clipSeconds / job.gopSeconds));
    const picture = await openPicture({ ...job, preset: "ultrafast" });
    const draw = job.isNumbered ? numbering() : job.flashes ? flashAt(job.frameRate) : undefined;
    loops.push(new Loop(picture, gops * Math.round(job.gopSeconds * job.frameRate), draw));
  }
  if (job.audio) {
    const tone = await openTone(TONE_BITRATE);
    loops.push(
      new Loop(
        tone,
        Math.round((job.flashes ? job.seconds : CLIP_SECONDS) / tone.frameSeconds),
        job.flashes ? beepAt : undefined,
      ),
    );
  }
  const output = await FlvOutput.open(
    job.url,
    loops.map(({ track }) => track),
  );
  begun();

  const time = new RealTime(systemClock);
  for (;;) {
    const loop = loops.reduce((first, other) => (other.nextSeconds < first.nextSeconds ? other : first));
    if (signal.aborted || loop.nextSeconds >= job.seconds) break;
    if (job.inRealTime) await time.until(loop.nextSeconds * 1000);
    await output.write(loop.track, loop.next());
  }
  await output.close();
});

function numbering(): (frame: Frame) => void {
  let number = 0;
  return ({ data, linesize }) => {
    const [luma] = data ?? [];
    if (luma) drawNumber(luma, linesize[0] ?? 0, number++);
  };
}

const [BLACK, WHITE, GREY] = [16, 235, 128];
const FLASH_SECONDS = 0.1;
const BEEP_HERTZ = 1000;

/** Pictures whose first tenth of each second is white. */
function flashAt(frameRate: number): (frame: Frame, n: number) => void {
  return ({ data }, n) => {
    const isWhite = n % frameRate < FLASH_SECONDS * frameRate;
    for (const [plane, bytes] of (data ?? []).entries()) bytes.fill(plane > 0 ? GREY : isWhite ? WHITE : BLACK);
  };
}

/** Sound that beeps at the same times. */
function beepAt({ data, nbSamples }: Frame, n: number): void {
  for (const plane of data ?? [])
    for (let sample = 0; sample < nbSamples; sample++) {
      const seconds = ((n * nbSamples + sample) % TONE_RATE) / TONE_RATE;
      const value = seconds < FLASH_SECONDS ? 0.5 * Math.sin(2 * Math.PI * BEEP_HERTZ * seconds) : 0;
      plane.writeFloatLE(value, sample * 4);
    }
}

/** One track's clip, repeated with continuous timestamps. */
class Loop {
  readonly track: GeneratedTrack;
  readonly #clip: readonly Packet[];
  #sent = 0;

  constructor(track: GeneratedTrack, frames: number, draw?: (frame: Frame, n: number) => void) {
    this.track = track;
    const encoded = Array.from({ length: frames }, (_, n) => track.next((frame) => draw?.(frame, n))).flat();
    // Frames before zero are the AAC encoder's priming, and as many frames at the end are excess.
    this.#clip = [...encoded, ...track.finish()].filter(({ pts }) => pts >= 0n);
  }

  /** Decode time of the next packet, from zero. */
  get nextSeconds(): number {
    return this.#sent * this.track.frameSeconds;
  }

  next(): Packet {
    const packet = this.#clip[this.#sent % this.#clip.length]?.clone();
    if (!packet) throw new Error("the clip is empty");
    const { num, den } = this.track.encoder.timeBase;
    const clipSeconds = this.#clip.length * this.track.frameSeconds;
    const rounds = Math.floor(this.#sent / this.#clip.length);
    const shift = BigInt(Math.round((rounds * clipSeconds * den) / num));
    packet.pts += shift;
    packet.dts += shift;
    this.#sent++;
    return packet;
  }
}
