import type { Offer } from "@weir/formats/sdp";
import type { Log } from "../../../platform/log.ts";
import { DroppedSamples } from "../../feed/dropped-samples.ts";
import { SessionFeed } from "../../feed/session-feed.ts";
import type { LadderResources } from "../../ladder/live-ladder.ts";
import { type AudioTrack, Payload, TICKS_PER_SECOND, type Track, type VideoTrack } from "../../packet.ts";
import type { WebrtcViewers } from "../../sent.ts";
import type { Cut, Sample, TimelineSink } from "../../timeline/timeline-sink.ts";
import { AudioConversion } from "../../transcode/index.ts";
import type { Peer, PeerHandler } from "../../webrtc/webrtc-process.ts";
import { hasBFrames, needsRendition } from "./needs-rendition.ts";
import { parameterSetsOf, pictureBytes } from "./picture-bytes.ts";
import { takeMeasure } from "./viewers-measure.ts";
import { WhepRendition } from "./whep-rendition.ts";
import { WhepRungs, type WhepRungsSettings } from "./whep-rungs.ts";
import { WhepViewer } from "./whep-viewer.ts";

const OPUS_BPS = 96_000;
const OPUS_RATE = 48_000;
/** How long after the last viewer B-frames are still reported as an issue: viewers come and go, but encoder settings stay. */
const WANTED_MS = 60_000;

export interface WhepFeedSettings extends Omit<WhepRungsSettings, "sound"> {
  readonly log: Log;
  readonly transcoding: LadderResources;
  /** The feed has ended, and its viewers were closed. */
  readonly onOver: () => void;
}

/**
 * One live session for its WebRTC viewers. H.264 without B-frames and Opus pass through; other video is re-encoded on demand, other audio converted.
 * Created for the first viewer and shared by all.
 */
export class WhepFeed implements TimelineSink, WebrtcViewers {
  readonly #settings: WhepFeedSettings;
  readonly #log: Log;
  readonly #rungs: WhepRungs;
  /** The session's sound, as Opus. */
  readonly #sound = new SessionFeed();
  readonly #detach: () => void;
  readonly #viewers = new Set<WhepViewer>();
  readonly #dropped: DroppedSamples;
  /** Viewers that entered and have not left. */
  #count = 0;
  #isDecided = false;
  #refusal: string | null = null;
  #video: VideoTrack | null = null;
  #parameterSets: Uint8Array = new Uint8Array();
  /** The newest cut of the stretch. */
  #cut: Cut | null = null;
  #audio: AudioTrack | null = null;
  #rendition: WhepRendition | null = null;
  #conversion: AudioConversion | null = null;
  /** A frame was dropped, so frames before the next keyframe are useless. */
  #waitsForKeyframe = true;
  #hasBFrames = false;
  #wantedUntil = Number.NEGATIVE_INFINITY;
  #isOver = false;

  constructor(settings: WhepFeedSettings) {
    this.#settings = settings;
    this.#rungs = new WhepRungs({ ...settings, sound: this.#sound });
    this.#log = settings.log.child({ sessionId: settings.session.sessionId });
    this.#dropped = new DroppedSamples(this.#log, "webrtc");
    settings.session.sent.webrtc = this;
    this.#detach = settings.session.outputs.feed.attach(this, { from: "window" });
  }

  /** True once the session's tracks are known, or it has ended. */
  get isDecided(): boolean {
    return this.#isDecided || this.#isOver;
  }

  /** False before the first media, which may be between two stretches, and after the end. */
  get hasMedia(): boolean {
    return this.#isDecided && !this.#isOver;
  }

  /** The reason why its media cannot be watched by WebRTC; null if they can. */
  get refusal(): string | null {
    return this.#refusal;
  }

  get hasBFrames(): boolean {
    const isWanted = this.#viewers.size > 0 || this.#settings.clock.monotonic() < this.#wantedUntil;
    return this.#hasBFrames && isWanted;
  }

  take(): ReturnType<typeof takeMeasure> {
    return takeMeasure(this.#viewers);
  }

  /** A viewer wants to watch: the feed is kept until `leave`. */
  enter(): void {
    this.#count++;
    this.#wanted();
  }

  get viewers(): number {
    return this.#count;
  }

  watch(sdp: string, plan: Offer, handler: PeerHandler): Peer {
    const rungs = this.#rungs;
    const { clock } = this.#settings;
    const onGone = (gone: WhepViewer) => void this.#viewers.delete(gone);
    const viewer = new WhepViewer({ clock, rungs, onGone }, sdp, plan, handler);
    this.#viewers.add(viewer);
    return viewer;
  }

  /** A viewer has left. Returns the number of remaining viewers. */
  leave(): number {
    this.#wanted();
    return --this.#count;
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#detach();
    this.#stopMaking();
    this.#dropped.report();
    for (const viewer of [...this.#viewers]) viewer.end("the stream ended");
    this.#rungs.close();
    this.#settings.onOver();
  }

  stretch(tracks: readonly Track[]): void {
    if (this.#isOver) return;
    this.#stopMaking();
    this.#video = tracks.find((track) => track.kind === "video") ?? null;
    const sound = tracks.filter((track) => track.kind === "audio");
    this.#audio = sound.find(({ codec }) => codec === "opus") ?? sound[0] ?? null;
    this.#waitsForKeyframe = true;
    this.#cut = null;
    this.#hasBFrames = this.#video !== null && hasBFrames(this.#video);
    this.#refusal = this.#video ? this.#prepareVideo(this.#video) : null;
    if (this.#audio) this.#prepareAudio(this.#audio);
    this.#isDecided = true;
    if (this.#refusal && this.#viewers.size > 0) this.close();
  }

  cut(cut: Cut): void {
    this.#cut = cut;
    this.#rungs.cut(cut);
    this.#rendition?.cut(cut);
  }

  sample(sample: Sample): void {
    if (this.#isOver || this.#refusal) return;
    if (sample.trackId === this.#video?.id) this.#videoSample(sample);
    else if (sample.trackId === this.#audio?.id) this.#audioSample(sample, this.#audio);
  }

  /** Viewers stay connected, because the publisher may return. */
  pause(): void {
    this.#stopMaking();
  }

  moved(): void {
    this.close();
  }

  end(): void {
    this.close();
  }

  /** Null, or the reason for refusal. */
  #prepareVideo(track: VideoTrack): string | null {
    if (!needsRendition(track)) {
      this.#parameterSets = parameterSetsOf(track.config);
      return null;
    }
    return this.#openRendition(track);
  }

  #openRendition(track: VideoTrack): string | null {
    const { clock, transcoding } = this.#settings;
    const rendition = WhepRendition.open({
      ...{ clock, log: this.#log, transcoding, track },
      onPicture: (picture) => this.#send("video", picture.isIndependent, picture.time, picture.data),
      onFailed: () => this.close(),
    });
    if (typeof rendition === "string") return rendition;
    this.#rendition = rendition;
    if (this.#cut) rendition.cut(this.#cut);
    return null;
  }

  #prepareAudio(track: AudioTrack): void {
    this.#sound.stretch([{ ...track, codec: "opus", sampleRate: OPUS_RATE }]);
    if (track.codec === "opus") return;
    const { clock, transcoding } = this.#settings;
    const { codec, config, sampleRate, channels } = track;
    this.#conversion = new AudioConversion({
      ...{ clock, log: this.#log, children: transcoding.children },
      source: { codec, config: Buffer.from(config).toString("base64"), sampleRate, channels },
      target: { codec: "opus", channels: 2, bitrateBps: OPUS_BPS },
      onPacket: (pts, data) => {
        const time = (pts * OPUS_RATE) / TICKS_PER_SECOND;
        const shape = { trackId: track.id, kind: "audio", duration: 0, isIndependent: true } as const;
        this.#opus({ ...shape, time, decodeTime: time, data: new Payload(data) });
      },
    });
  }

  #videoSample(sample: Sample): void {
    const { isIndependent, time, decodeTime, data } = sample;
    if (this.#rendition) return this.#rendition.sample(sample);
    // The parameter sets did not declare B-frames, but the pictures are reordered.
    if (isIndependent && time !== decodeTime && this.#video) {
      this.#hasBFrames = true;
      this.#refusal = this.#openRendition(this.#video);
      if (!this.#refusal) return this.#videoSample(sample);
      if (this.#viewers.size > 0) this.close();
      return;
    }
    this.#send("video", isIndependent, time, pictureBytes(this.#parameterSets, isIndependent, data.bytes));
  }

  #audioSample(sample: Sample, { codec, sampleRate }: AudioTrack): void {
    if (codec === "opus") this.#opus(sample);
    else this.#conversion?.push((sample.time * TICKS_PER_SECOND) / sampleRate, sample.data.bytes);
  }

  #opus(sample: Sample): void {
    this.#sound.sample(sample);
    this.#send("audio", true, (sample.time * TICKS_PER_SECOND) / OPUS_RATE, sample.data.bytes);
  }

  #send(kind: "video" | "audio", isIndependent: boolean, time: number, data: Uint8Array): void {
    if (this.#isOver) return;
    const isOfUse = kind === "audio" || isIndependent || !this.#waitsForKeyframe;
    const isTaken = isOfUse && this.#rungs.send({ kind, isIndependent, time, data });
    if (!isTaken) this.#dropped.add(1);
    if (kind === "video") this.#waitsForKeyframe = !isTaken;
  }

  #wanted(): void {
    this.#wantedUntil = this.#settings.clock.monotonic() + WANTED_MS;
  }

  #stopMaking(): void {
    this.#rendition?.close();
    this.#rendition = null;
    this.#conversion?.close();
    this.#conversion = null;
  }
}
