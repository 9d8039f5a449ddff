import type { Clock } from "../../platform/clock.ts";
import type { SessionSound, TimelinePosition } from "../../ports/index.ts";
import { type AudioTrack, type SourcePacket, TICKS_PER_SECOND, type Track, VIDEO_TRACK } from "../packet.ts";
import { AudioLine } from "./audio-line.ts";
import { Cutter } from "./cutter.ts";
import { KnownSound } from "./known-sound.ts";
import { ProgramDateTime } from "./program-date-time.ts";
import { SourceClock } from "./source-clock.ts";
import { Standstill } from "./standstill.ts";
import { type Opening, StretchOpening } from "./stretch-opening.ts";
import { TargetDuration } from "./target-duration.ts";
import type { Sample, TimelineSink } from "./timeline-sink.ts";
import { VideoClock } from "./video-clock.ts";

const VIDEO_LOST_MS = 4000;
const AUDIO_LOST_TICKS = TICKS_PER_SECOND;
const SHORTEST_STALL_MS = 20;
/** The very first frame waits this long for the second one, which reveals the frame rate. */
const FIRST_FRAME_STALL_MS = 1100;
const MAX_STRETCHES_A_MINUTE = 10;

export interface TimelineSettings {
  readonly clock: Clock;
  readonly sink: TimelineSink;
  /** The position at which an earlier process left the session; null for a new session. */
  readonly resume: TimelinePosition | null;
  /** The sound of the stream's last session, which this one has as silence until its own comes; null without. */
  readonly lastSound: SessionSound | null;
  /** Decided at the first picture. */
  readonly target: TargetDuration;
  /** Called when the source cannot be placed on the timeline; its packets are ignored from then on. `reason` is a sentence for the broadcaster. */
  readonly onUnstable: (reason: string) => void;
}

/**
 * The timeline of one session: takes source packets, emits samples with final positions and segment cuts.
 *
 * It is a sequence of stretches. Within a stretch, T = source time + offset. A new stretch starts at a reconnect, a takeover, a changed track or a
 * jump of the source's clock: open segments are closed, T continues at the latest end of all tracks, and a cut follows, with a discontinuity if a
 * track has changed or is missing. Sound is never missing: without it, its track continues as silence. Audio is never emitted ahead of video, so that a cut is known before the audio after it. While no video cuts, the first
 * audio track does, and other audio tracks are never emitted ahead of it.
 */
export class Timeline {
  readonly #clock: Clock;
  readonly #sink: TimelineSink;
  readonly #onUnstable: (reason: string) => void;
  readonly #target: TargetDuration;
  readonly #cutter: Cutter;
  readonly #video = new VideoClock();
  readonly #source = new SourceClock();
  readonly #standstill = new Standstill();
  readonly #sound: KnownSound;
  /** The audio tracks of the newest stretch, ordered by id. */
  #audio: readonly AudioLine[] = [];
  /** Tracks of the newest stretch; null before this process's first stretch. */
  #tracks: readonly Track[] | null = null;
  readonly #announced = new Map<Track["id"], Track>();
  /** Buffers the start of a stretch; null within one. */
  #opening: StretchOpening | null = new StretchOpening();
  #programDateTime: ProgramDateTime | null = null;
  #hasVideo = false;
  #videoLost = false;
  /** Delay from decoding to presentation of the newest IDR. */
  #reorderTicks = 0;
  /** The audio track changed: the next IDR starts a stretch. */
  #restartAtIdr = false;
  #lastPacketAt = 0;
  #lastVideoAt = 0;
  #videoEnd: number;
  #startTicks: number;
  #discontinuities: number;
  #hasBegun: boolean;
  /** The next stretch starts because of a new publisher, not because the source changed. */
  #isReconnect = true;
  #recentStretches: number[] = [];
  #clockJumps = 0;

  constructor({ clock, sink, resume, lastSound, target, onUnstable }: TimelineSettings) {
    this.#clock = clock;
    this.#sink = sink;
    this.#onUnstable = onUnstable;
    this.#hasBegun = resume !== null;
    this.#discontinuities = resume?.discontinuitySequence ?? 0;
    this.#startTicks = resume?.endTicks ?? 0;
    this.#videoEnd = this.#startTicks;
    this.#target = target;
    this.#sound = new KnownSound(resume?.sound ?? null, lastSound);
    this.#cutter = new Cutter(resume?.nextMsn ?? 1, this.#startTicks, target);
  }

  /** The position from which another process can continue. */
  get position(): TimelinePosition {
    return {
      nextMsn: this.#cutter.nextMsn,
      discontinuitySequence: this.#discontinuities,
      endTicks: this.#endTicks,
      targetDuration: this.#target.seconds,
      neededTargetDuration: TargetDuration.neededFor(this.#cutter.longestGopSeconds),
      sound: this.#sound.heard,
    };
  }

  /** Arrival of the newest packet, on the monotonic clock. */
  get lastPacketAt(): number {
    return this.#lastPacketAt;
  }

  /** Number of jumps of the source's clock in this process. */
  get clockJumps(): number {
    return this.#clockJumps;
  }

  get corrections(): { timestamps: number; silentFrames: number; droppedFrames: number } {
    const corrections = { timestamps: this.#video.corrections, silentFrames: 0, droppedFrames: 0 };
    for (const { clock } of this.#audio) {
      corrections.silentFrames += clock.inserted;
      corrections.droppedFrames += clock.dropped;
    }
    return corrections;
  }

  /** A publisher connects, new or again: its tracks and clock are unknown. */
  publisher(): void {
    this.#announced.clear();
    this.#isReconnect = true;
    this.#restart([]);
  }

  track(track: Track): void {
    const known = this.#announced.get(track.id);
    if (known && isSameTrack(known, track)) return;
    this.#announced.set(track.id, track);
    if (this.#opening) this.#tryOpen();
    else if (track.kind === "audio" && this.#hasVideo && !this.#videoLost) this.#restartAtIdr = !this.#isAsAnnounced;
    else this.#restart([]);
  }

  packet(packet: SourcePacket): void {
    const now = this.#clock.monotonic();
    this.#lastPacketAt = now;
    if (packet.kind === "video") this.#lastVideoAt = now;
    if (this.#opening) {
      this.#opening.add(packet, now);
      this.#tryOpen();
    } else if (this.#restartAtIdr && packet.kind === "video" && packet.isIndependent) {
      this.#restart([packet]);
    } else if (this.#source.accepts(packet, now)) {
      if (packet.kind === "video") this.#placeVideo(packet);
      else this.#placeAudio(packet);
    } else {
      this.#followJump(now);
    }
  }

  /** Call about every 50 ms: missing packets are only noticed by time. */
  tick(): void {
    const now = this.#clock.monotonic();
    if (this.#opening) return this.#tryOpen();
    this.#followJump(now);
    if (this.#opening) return;
    if (this.#hasVideo && !this.#videoLost) {
      const silence = now - this.#lastVideoAt;
      const frameTicks = this.#video.frameTicks;
      const stall = frameTicks === null ? FIRST_FRAME_STALL_MS : Math.max(SHORTEST_STALL_MS, (2 * frameTicks) / 90);
      if (silence >= stall) this.#emitVideo(this.#video.release());
      if (silence >= VIDEO_LOST_MS && this.#audio.some(({ clock }) => !clock.isAbsent)) this.#loseVideo();
      else {
        this.#loseAudio();
        this.#fillSilence();
      }
    }
  }

  /** The source is gone: everything received is closed, and the next packets start a stretch. */
  pause(): void {
    this.#isReconnect = true;
    this.#restart([]);
  }

  get #endTicks(): number {
    return this.#audio.reduce(
      (end, { clock }) => Math.max(end, clock.endTicks),
      Math.max(this.#videoEnd, this.#startTicks),
    );
  }

  #restart(packets: readonly SourcePacket[]): void {
    this.#restartAtIdr = false;
    if (!this.#opening) {
      this.#emitVideo(this.#video.release());
      // If one track ends before the other, no playlist would show the gap. Audio is filled with silence, and packagers extend the last picture.
      const end = this.#leadingAudio?.clock.endTicks ?? this.#videoEnd;
      for (const line of this.#audio) if (line !== this.#leadingAudio) line.clock.fillPast(end);
      this.#flushAudio();
      this.#startTicks = this.#endTicks;
      this.#sink.pause(this.#startTicks);
    }
    this.#opening = new StretchOpening();
    const now = this.#clock.monotonic();
    for (const packet of packets) this.#opening.add(packet, now);
    this.#tryOpen();
  }

  #tryOpen(): void {
    const opening = this.#opening?.ready(this.#announced, this.#clock.monotonic());
    if (opening) this.#open(opening);
  }

  #open(opening: Opening): void {
    if (!this.#isReconnect && this.#isUnstable()) return;
    this.#isReconnect = false;
    this.#target.decide(opening.encoderGopSeconds);
    if (!this.#hasBegun) this.#startTicks = opening.reorderTicks;
    const start = this.#startTicks;
    const now = this.#clock.monotonic();
    const tracks = this.#sound.tracksFor(opening.tracks);
    const goesOn = this.#tracks !== null && goOn(this.#tracks, tracks);
    this.#tracks = tracks;
    this.#opening = null;
    this.#hasVideo = tracks.some((track) => track.kind === "video");
    this.#videoLost = false;
    this.#lastVideoAt = now;
    const offsetOf = (trackId: Track["id"]): number => start - (opening.bases.get(trackId) ?? opening.base);
    this.#video.start(offsetOf(VIDEO_TRACK));
    const lineOf = (track: AudioTrack) => (goesOn ? this.#lineOf(track.id) : null) ?? new AudioLine(track);
    this.#audio = tracks.flatMap((track) => (track.kind === "audio" ? lineOf(track) : []));
    for (const { clock } of this.#audio) {
      clock.start(offsetOf(clock.track.id), start);
      if (!opening.bases.has(clock.track.id)) clock.lose();
    }
    this.#standstill.start(start, now);
    this.#cutter.restart();
    this.#source.start(opening.bases);
    this.#programDateTime = new ProgramDateTime(this.#clock, start, now - opening.arrivedAt);
    this.#sink.stretch(tracks);
    this.#cut(start, this.#hasBegun && !goesOn);
    this.#hasBegun = true;
    for (const packet of opening.packets) this.packet(packet);
  }

  #isUnstable(): boolean {
    const now = this.#clock.monotonic();
    this.#recentStretches = this.#recentStretches.filter((at) => now - at < 60_000);
    this.#recentStretches.push(now);
    if (this.#recentStretches.length <= MAX_STRETCHES_A_MINUTE) return false;
    this.#opening = new StretchOpening();
    this.#onUnstable("The source changed its clock or its tracks more than 10 times in a minute. Restart the encoder.");
    return true;
  }

  #followJump(now: number): void {
    const packets = this.#source.jumped(now);
    if (!packets) return;
    this.#clockJumps++;
    this.#restart(packets);
  }

  #placeVideo(packet: SourcePacket): void {
    if (!this.#hasVideo || (this.#videoLost && !packet.isIndependent)) return packet.data.release();
    const sample = this.#video.place(packet);
    if (packet.isIndependent) this.#reorderTicks = sample.time - sample.decodeTime;
    const position = sample.decodeTime + this.#reorderTicks;
    const isCut = this.#videoLost || this.#wantsCut(position, packet.isIndependent);
    this.#videoLost = false;
    this.#emitVideo(this.#video.hold(sample));
    if (isCut) this.#cut(position, false);
    this.#cutter.count(packet.data.byteLength);
    this.#fillSilence();
    this.#refuseStandstill(this.#video.decodeTime);
  }

  #wantsCut(position: number, isIndependent: boolean): boolean {
    return this.#cutter.wantsVideoCut(position, this.#video.frameTicks ?? 0, isIndependent);
  }

  #placeAudio(packet: SourcePacket): void {
    const line = this.#lineOf(packet.trackId);
    if (!line || this.#restartAtIdr) return packet.data.release();
    line.clock.push(packet);
    this.#sound.hear(line.clock.track);
    if (line === this.#leadingAudio) {
      this.#releaseAudio(Number.POSITIVE_INFINITY);
      this.#refuseStandstill(line.clock.endTicks);
    } else {
      this.#releaseAudio(this.#cutsByVideo ? this.#video.decodeTime : Number.POSITIVE_INFINITY);
      if (line.holdsTooMuch) this.#refuseFarAudio();
    }
  }

  #lineOf(trackId: Track["id"]): AudioLine | null {
    for (const line of this.#audio) if (line.clock.track.id === trackId) return line;
    return null;
  }

  /** The tracks that the source announces are those of the stretch: sound comes where silence was. */
  get #isAsAnnounced(): boolean {
    const announced = [...this.#announced.values()];
    const tracks = this.#tracks ?? [];
    return announced.length === tracks.length && areIn(announced, tracks);
  }

  get #cutsByVideo(): boolean {
    return this.#hasVideo && !this.#videoLost;
  }

  /** The audio track that cuts: the first that the source sends. Null while video cuts. */
  get #leadingAudio(): AudioLine | null {
    if (this.#cutsByVideo) return null;
    for (const line of this.#audio) if (!line.clock.isAbsent) return line;
    return this.#audio[0] ?? null;
  }

  #refuseStandstill(ticks: number): void {
    if (this.#standstill.packet(ticks, this.#clock.monotonic()))
      this.#onUnstable("The source's timestamps stand still while packets keep coming. Restart the encoder.");
  }

  #refuseFarAudio(): void {
    this.#flushAudio();
    const behind = this.#cutsByVideo ? "video is far behind its audio" : "audio tracks are far apart";
    this.#onUnstable(`The source's ${behind}, by their timestamps. Restart the encoder.`);
  }

  #emitVideo(sample: Sample | null): void {
    if (!sample) return;
    this.#videoEnd = Math.max(this.#videoEnd, sample.time + sample.duration);
    this.#sink.sample(sample);
  }

  /**
   * Emits audio up to `limit` (90 kHz ticks). While no video cuts, the first audio track does, and the others are emitted only up to its position.
   */
  #releaseAudio(limit: number): void {
    const leading = this.#leadingAudio;
    leading?.release(limit, this.#emitLeading);
    this.#releaseFollowing(leading, leading ? Math.min(limit, leading.releasedTicks) : limit);
  }

  #releaseFollowing(leading: AudioLine | null, limit: number): void {
    for (const line of this.#audio) if (line !== leading) line.release(limit, this.#emitAudio);
  }

  /** Emits all audio: no cut can follow that would affect it. */
  #flushAudio(): void {
    this.#releaseAudio(Number.POSITIVE_INFINITY);
    this.#releaseFollowing(null, Number.POSITIVE_INFINITY);
  }

  readonly #emitAudio = (sample: Sample): void => {
    this.#cutter.count(sample.data.byteLength);
    this.#sink.sample(sample);
  };

  readonly #emitLeading = (sample: Sample, ticks: number): void => {
    if (this.#cutter.wantsAudioCut(ticks)) {
      this.#releaseFollowing(this.#leadingAudio, ticks - 1);
      this.#cut(ticks, false);
    }
    this.#emitAudio(sample);
  };

  #loseVideo(): void {
    this.#videoLost = true;
    this.#releaseAudio(Number.POSITIVE_INFINITY);
  }

  #loseAudio(): void {
    for (const { clock } of this.#audio) if (this.#video.decodeTime - clock.endTicks >= AUDIO_LOST_TICKS) clock.lose();
  }

  /** Silence in every segment of the audio that is away, whatever the pace at which the video comes. */
  #fillSilence(): void {
    if (!this.#restartAtIdr)
      for (const { clock } of this.#audio) if (clock.isAbsent) clock.fillTo(this.#video.decodeTime);
    this.#releaseAudio(this.#video.decodeTime);
  }

  #cut(ticks: number, discontinuity: boolean): void {
    if (discontinuity) this.#discontinuities++;
    const msn = this.#cutter.cut(ticks);
    this.#sink.cut({
      msn,
      ticks,
      programDateTimeMs: this.#programDateTime?.at(ticks) ?? this.#clock.now(),
      discontinuity,
      byVideo: this.#cutsByVideo,
    });
    for (const { clock } of this.#audio) clock.segmentBegan();
  }
}

/** True if players need no discontinuity: no track is missing or has changed. The playlist of further audio has only what follows. */
function goOn(before: readonly Track[], after: readonly Track[]): boolean {
  return areIn(after, before) && after.every((track) => track.kind === "audio" || areIn(before, [track]));
}

/** True if each of `some` is among `tracks`, unchanged. */
function areIn(tracks: readonly Track[], some: readonly Track[]): boolean {
  return some.every((track) => tracks.some((other) => other.id === track.id && isSameTrack(track, other)));
}

function isSameTrack(a: Track, b: Track): boolean {
  if (a.codec !== b.codec || a.config.byteLength !== b.config.byteLength) return false;
  return a.config.every((byte, index) => byte === b.config[index]);
}
