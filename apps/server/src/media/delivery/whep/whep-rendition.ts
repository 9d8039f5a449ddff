import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { LadderChild } from "../../ladder/ladder-child.ts";
import { planLadder, type Rung } from "../../ladder/ladder-plan.ts";
import type { LadderResources } from "../../ladder/live-ladder.ts";
import type { TranscodeSlot } from "../../ladder/transcode-admission.ts";
import type { VideoTrack } from "../../packet.ts";
import type { Cut, Sample } from "../../timeline/timeline-sink.ts";
import type { FromChild } from "../../transcode/index.ts";
import { parameterSetsOf, pictureBytes } from "./picture-bytes.ts";

const MAX_LONG_SIDE = 1920;
const MAX_SHORT_SIDE = 1080;
/** Bits per pixel at 30 frames per second. */
const BITS_PER_PIXEL = 0.1;
const COUNTED_FPS = 30;
const BITRATE = { least: 500_000, most: 6_000_000 };
const STEADY_MS = 5_000;

export interface WhepPicture {
  readonly time: number;
  readonly isIndependent: boolean;
  /** Including parameter sets if it is a keyframe. */
  readonly data: Uint8Array;
}

export interface WhepRenditionSettings {
  readonly clock: Clock;
  readonly log: Log;
  readonly transcoding: LadderResources;
  readonly track: VideoTrack;
  readonly onPicture: (picture: WhepPicture) => void;
  /** No more pictures will follow. */
  readonly onFailed: () => void;
}

/**
 * A source's video re-encoded for WebRTC: H.264 without B-frames, with a keyframe every second. It has its own transcoder within the node's budget.
 */
export class WhepRendition {
  readonly #settings: WhepRenditionSettings;
  readonly #rung: Rung;
  readonly #slot: TranscodeSlot;
  readonly #child: LadderChild;
  #parameterSets: Uint8Array = new Uint8Array();
  #lastCut: Cut | null = null;
  #isClosed = false;

  private constructor(settings: WhepRenditionSettings, rung: Rung, slot: TranscodeSlot) {
    this.#settings = settings;
    this.#rung = rung;
    this.#slot = slot;
    const { clock, log, transcoding } = settings;
    this.#child = new LadderChild({
      ...transcoding,
      ...{ clock, log, name: "webrtc rendition", steadyMs: STEADY_MS },
      // Viewers join with pictures since the last keyframe, which are encoded as fast as it goes.
      maxLagMs: Number.POSITIVE_INFINITY,
      message: (message) => this.#receive(message),
      ended: () => {},
      died: (reason, isLast) => isLast && this.#fail(reason),
      restart: () => this.#start(),
    });
    this.#start();
  }

  /** Opens the rendition. Returns a sentence if that is not possible. */
  static open(settings: WhepRenditionSettings): WhepRendition | string {
    const { track, transcoding } = settings;
    const rung = rungOf(track);
    const slot = transcoding.admission.admit(track, [rung]);
    if (typeof slot !== "string") return new WhepRendition(settings, rung, slot);
    return `This stream's video has B-frames or a codec that WebRTC does not support, and the server has no capacity to re-encode it. ${slot} Or set the encoder to H.264 without B-frames, or use HLS.`;
  }

  cut(cut: Cut): void {
    this.#lastCut = cut;
    this.#child.cut(cut);
  }

  sample(sample: Sample): void {
    this.#child.sample(sample);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#child.drop();
    this.#slot.release();
  }

  #start(): void {
    this.#child.start(this.#settings.track, [this.#rung], null);
    if (this.#lastCut) this.cut(this.#lastCut);
  }

  #receive(message: FromChild): void {
    if (message.type === "ready") {
      this.#parameterSets = parameterSetsOf(Buffer.from(message.rungs[0]?.config ?? "", "base64"));
    } else if (message.type === "packet") {
      this.#child.process.succeeded();
      const { isIndependent, pts: time } = message;
      const data = pictureBytes(this.#parameterSets, isIndependent, message.data);
      this.#settings.onPicture({ time, isIndependent, data });
    } else if (message.type === "error" && message.isFatal) this.#fail(message.message);
  }

  #fail(reason: string): void {
    this.#settings.log.warn({ reason }, "no WebRTC rendition of a stream: its transcoder failed");
    this.close();
    this.#settings.onFailed();
  }
}

function rungOf(track: VideoTrack): Rung {
  const long = Math.min(Math.max(track.width, track.height), MAX_LONG_SIDE);
  const short = Math.min(Math.min(track.width, track.height), MAX_SHORT_SIDE);
  const bitrate = Math.round(
    Math.min(BITRATE.most, Math.max(BITRATE.least, long * short * COUNTED_FPS * BITS_PER_PIXEL)),
  );
  const profile = {
    name: "webrtc",
    width: long,
    height: short,
    bitrate,
    fps: 0,
    profile: "H264Baseline",
    gop: "1.0",
  } as const;
  const [rung] = planLadder([profile], false, track);
  if (!rung) throw new Error("a ladder of one profile has no rung");
  return rung;
}
