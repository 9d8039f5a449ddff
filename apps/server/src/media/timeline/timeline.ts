import type { Clock } from "../../platform/clock.ts";
import type { SessionSound, TimelinePosition } from "../../ports/index.ts";
import { type SourcePacket, type Track, VIDEO_TRACK } from "../packet.ts";
import { AwaySlate } from "./away-slate.ts";
import { Cutter } from "./cutter.ts";
import { KnownSound } from "./known-sound.ts";
import { ProgramDateTime } from "./program-date-time.ts";
import { SourceClock } from "./source-clock.ts";
import { Standstill } from "./standstill.ts";
import { StretchAudio } from "./stretch-audio.ts";
import { type Opening, StretchOpening } from "./stretch-opening.ts";
import { TargetDuration } from "./target-duration.ts";
import type { Sample, SlateSink, TimelineSink } from "./timeline-sink.ts";
import { areIn, goOn, isSameTrack } from "./track-changes.ts";
import { VideoClock } from "./video-clock.ts";

const VIDEO_LOST_MS = 4000;
const SHORTEST_STALL_MS = 20;
/** The very first frame waits this long for the second one, which reveals the frame rate. */
const FIRST_FRAME_STALL_MS = 1100;
const MAX_STRETCHES_A_MINUTE = 10;

export interface TimelineSettings {
  readonly clock: Clock;
  readonly sink: TimelineSink;
  /** Shows viewers the last picture between two stretches; null where they wait. */
  readonly slate: SlateSink | null;
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
  readonly #settings: TimelineSettings;
  readonly #cutter: Cutter;
  readonly #video = new VideoClock();
  readonly #source = new SourceClock();
  readonly #standstill = new Standstill();
  readonly #sound: KnownSound;
  readonly #audio: StretchAudio;
  /** Tracks of the newest stretch; null before this process's first stretch. */
  #tracks: readonly Track[] | null = null;
  readonly #announced = new Map<Track["id"], Track>();
  /** Buffers the start of a stretch; null within one. */
  #opening: StretchOpening | null = new StretchOpening();
  /** Between two stretches; null within one, and where there is none. */
  #slate: AwaySlate | null = null;
  #programDateTime: ProgramDateTime | null = null;
  #hasVideo = false;
  #videoLost = false;
  /** Since when the video that was lost comes with times that are over; null while it does not. */
  #lateSince: number | null = null;
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
  #isRepaired = false;
  #recentStretches: number[] = [];
  #clockJumps = 0;

  constructor(settings: TimelineSettings) {
    this.#settings = settings;
    const { resume, lastSound, target } = settings;
    this.#hasBegun = resume !== null;
    this.#discontinuities = resume?.discontinuitySequence ?? 0;
    this.#startTicks = resume?.endTicks ?? 0;
    this.#videoEnd = this.#startTicks;
    this.#sound = new KnownSound(resume?.sound ?? null, lastSound);
    this.#cutter = new Cutter(resume?.nextMsn ?? 1, this.#startTicks, target);
    this.#audio = new StretchAudio({
      cutsByVideo: () => this.#cutsByVideo,
      emit: (sample) => {
        this.#cutter.count(sample.data.byteLength);
        this.#emit(sample);
      },
      wantsCut: (ticks) => this.#cutter.wantsAudioCut(ticks),
      cut: (ticks) => this.#cut(ticks, { byVideo: false }),
    });
  }

  /** The position from which another process can continue. */
  get position(): TimelinePosition {
    return {
      nextMsn: this.#cutter.nextMsn,
      discontinuitySequence: this.#discontinuities,
      endTicks: this.#endTicks,
      targetDuration: this.#settings.target.seconds,
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

  /**
   * A publisher connects, new or again: its tracks and clock are unknown. `isRepaired`: its stray frames are repaired already, and nobody can restart
   * it, so that what still changes is followed as often as it does.
   */
  publisher({ isRepaired = false } = {}): void {
    this.#isRepaired = isRepaired;
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
    const now = this.#settings.clock.monotonic();
    this.#lastPacketAt = now;
    if (packet.kind === "video") this.#lastVideoAt = now;
    if (this.#opening) {
      this.#opening.add(packet, now);
      this.#tryOpen();
    } else if (
      packet.kind === "video" &&
      packet.isIndependent &&
      (this.#restartAtIdr || this.#isFirstPicture(packet))
    ) {
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
    const now = this.#settings.clock.monotonic();
    if (this.#opening) {
      this.#tryOpen();
      return this.#slate?.show(now);
    }
    this.#followJump(now);
    if (this.#opening) return;
    if (this.#hasVideo && !this.#videoLost) {
      const silence = now - this.#lastVideoAt;
      const frameTicks = this.#video.frameTicks;
      const stall = frameTicks === null ? FIRST_FRAME_STALL_MS : Math.max(SHORTEST_STALL_MS, (2 * frameTicks) / 90);
      if (silence >= stall) this.#emitVideo(this.#video.release());
      if (silence >= VIDEO_LOST_MS && this.#audio.isHeard) this.#loseVideo();
      else {
        this.#audio.loseBehind(this.#video.decodeTime);
        this.#fillSilence();
      }
    }
  }

  /** The source is gone: everything received is closed, and the next packets start a stretch. */
  pause(): void {
    this.#isReconnect = true;
    this.#restart([]);
  }

  /** The session is over. */
  end(): void {
    this.pause();
    this.endSlate();
    this.#settings.sink.end();
  }

  /** What is shown in place of the source is closed, and nothing more is shown before the next stretch. */
  endSlate(): void {
    const isShown = this.#slate?.isShown === true;
    if (isShown) {
      this.#audio.close(this.#videoEnd);
      this.#startTicks = this.#endTicks;
      this.#settings.slate?.end(this.#startTicks);
    }
    this.#slate = null;
  }

  get #endTicks(): number {
    return this.#audio.endTicks(Math.max(this.#videoEnd, this.#startTicks));
  }

  #restart(packets: readonly SourcePacket[]): void {
    this.#restartAtIdr = false;
    if (!this.#opening) {
      this.#emitVideo(this.#video.release());
      this.#cutWithoutPictures(this.#endTicks);
      this.#audio.close(this.#videoEnd);
      this.#startTicks = this.#endTicks;
      this.#settings.sink.pause(this.#startTicks);
      this.#slate = this.#slateFrom(this.#startTicks);
    }
    this.#opening = new StretchOpening();
    const now = this.#settings.clock.monotonic();
    for (const packet of packets) this.#opening.add(packet, now);
    this.#tryOpen();
  }

  #tryOpen(): void {
    const opening = this.#opening?.ready(this.#announced, this.#settings.clock.monotonic());
    if (opening) this.#open(opening);
  }

  #open(opening: Opening): void {
    if (!this.#isReconnect && this.#isUnstable()) return;
    this.#isReconnect = false;
    this.endSlate();
    this.#settings.target.decide(opening.encoderGopSeconds);
    if (!this.#hasBegun) this.#startTicks = opening.reorderTicks;
    const start = this.#startTicks;
    const now = this.#settings.clock.monotonic();
    const tracks = this.#sound.tracksFor(opening.tracks);
    const goesOn = this.#tracks !== null && goOn(this.#tracks, tracks);
    this.#tracks = tracks;
    this.#opening = null;
    this.#hasVideo = tracks.some((track) => track.kind === "video");
    this.#videoLost = false;
    this.#lateSince = null;
    this.#lastVideoAt = now;
    const offsetOf = (trackId: Track["id"]): number => start - (opening.bases.get(trackId) ?? opening.base);
    this.#video.start(offsetOf(VIDEO_TRACK));
    this.#audio.start({ tracks, goesOn, offsetOf, ticks: start, isSent: (trackId) => opening.bases.has(trackId) });
    this.#standstill.start(start, now);
    this.#cutter.restart();
    this.#source.start(opening);
    this.#programDateTime = new ProgramDateTime(this.#settings.clock, start, now - opening.arrivedAt);
    this.#settings.sink.stretch(tracks);
    this.#cut(start, { discontinuity: this.#hasBegun && !goesOn });
    this.#hasBegun = true;
    for (const packet of opening.packets) this.packet(packet);
  }

  #isUnstable(): boolean {
    const now = this.#settings.clock.monotonic();
    this.#recentStretches = this.#recentStretches.filter((at) => now - at < 60_000);
    this.#recentStretches.push(now);
    if (this.#isRepaired || this.#recentStretches.length <= MAX_STRETCHES_A_MINUTE) return false;
    this.#opening = new StretchOpening();
    this.#settings.onUnstable(
      "The source changed its clock or its tracks more than 10 times in a minute. Restart the encoder.",
    );
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
    if (this.#videoLost && position <= this.#cutter.lastTicks) return this.#leaveOutLate(packet);
    this.#lateSince = null;
    const isCut = this.#videoLost || this.#wantsCut(position, packet.isIndependent);
    this.#videoLost = false;
    // Shown until this one, the last picture would make its segment too long.
    if (isCut && this.#cutter.isTooLong(position)) this.#emitVideo(this.#video.release());
    this.#emitVideo(this.#video.hold(sample));
    if (isCut) {
      this.#cutWithoutPictures(position);
      this.#cut(position);
    }
    this.#cutter.count(packet.data.byteLength);
    this.#fillSilence();
    this.#refuseStandstill(this.#video.decodeTime);
  }

  /** The audio has cut behind this picture meanwhile, and cuts never go back: the video is shown from where it has caught up. */
  #leaveOutLate({ data }: SourcePacket): void {
    data.release();
    const now = this.#settings.clock.monotonic();
    this.#lateSince ??= now;
    if (now - this.#lateSince >= VIDEO_LOST_MS) this.#refuseFarAudio("video is far behind its audio");
  }

  #wantsCut(position: number, isIndependent: boolean): boolean {
    return this.#cutter.wantsVideoCut(position, this.#video.frameTicks ?? 0, isIndependent);
  }

  #placeAudio(packet: SourcePacket): void {
    const line = this.#audio.lineOf(packet.trackId);
    if (!line || this.#restartAtIdr) return packet.data.release();
    line.clock.push(packet);
    this.#sound.hear(line.clock.track);
    this.#audio.release(this.#cutsByVideo ? this.#video.decodeTime : Number.POSITIVE_INFINITY);
    if (line === this.#audio.leading) this.#refuseStandstill(line.clock.endTicks);
    else if (line.holdsTooMuch) this.#refuseFarAudio();
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

  #refuseStandstill(ticks: number): void {
    if (this.#standstill.packet(ticks, this.#settings.clock.monotonic()))
      this.#settings.onUnstable("The source's timestamps stand still while packets keep coming. Restart the encoder.");
  }

  #refuseFarAudio(behind = this.#cutsByVideo ? "video is far behind its audio" : "audio tracks are far apart"): void {
    this.#audio.flush();
    this.#settings.onUnstable(`The source's ${behind}, by their timestamps. Restart the encoder.`);
  }

  #emitVideo(sample: Sample | null): void {
    if (!sample) return;
    this.#videoEnd = Math.max(this.#videoEnd, sample.time + sample.duration);
    this.#emit(sample);
  }

  #emit(sample: Sample): void {
    const { sink, slate } = this.#settings;
    // Between two stretches there is no sound but that of the slate.
    if (this.#slate?.isShown) slate?.sound(sample);
    else sink.sample(sample);
    sample.data.release();
  }

  /** Without pictures of its own, a session has none to show. */
  #slateFrom(ticks: number): AwaySlate | null {
    const { slate } = this.#settings;
    if (!slate || !this.#cutsByVideo) return null;
    return new AwaySlate({
      ...{ ticks, since: this.#lastPacketAt },
      begin: () => {
        const pace = slate.begin();
        if (pace !== null) this.#audio.lose();
        return pace;
      },
      picture: (start, duration) => {
        if (start === ticks || this.#cutter.wantsAudioCut(start)) this.#cut(start, { isSlate: true });
        slate.picture(start, duration);
        this.#videoEnd = start + duration;
        this.#audio.fillAbsent(this.#videoEnd);
        this.#audio.release(this.#videoEnd);
      },
    });
  }

  /** The source sends pictures, of which none decoded alone until now: the stretch began without them. */
  #isFirstPicture({ trackId }: SourcePacket): boolean {
    return !this.#hasVideo && this.#announced.get(trackId)?.kind === "video";
  }

  /**
   * No picture comes before `ticks`. Where the open segment would become too long for the playlist, its sound cuts meanwhile, as it does where the
   * video is lost.
   */
  #cutWithoutPictures(ticks: number): void {
    if (!this.#cutsByVideo || !this.#cutter.isTooLong(ticks)) return;
    if (!this.#restartAtIdr) this.#audio.fillAbsent(ticks);
    this.#audio.releaseInSegments(ticks - 1, (at) => this.#cutter.isTooLong(ticks) && this.#cutter.wantsAudioCut(at));
  }

  #loseVideo(): void {
    this.#videoLost = true;
    this.#audio.release(Number.POSITIVE_INFINITY);
  }

  /** Silence in every segment of the audio that is away, whatever the pace at which the video comes. */
  #fillSilence(): void {
    const { decodeTime } = this.#video;
    if (!this.#restartAtIdr) this.#audio.fillAbsent(decodeTime);
    this.#audio.release(decodeTime);
  }

  #cut(ticks: number, { discontinuity = false, isSlate = false, byVideo = this.#cutsByVideo } = {}): void {
    if (discontinuity) this.#discontinuities++;
    const msn = this.#cutter.cut(ticks);
    const { sink, slate } = this.#settings;
    (isSlate && slate ? slate : sink).cut({
      msn,
      ticks,
      programDateTimeMs: this.#programDateTime?.at(ticks) ?? this.#settings.clock.now(),
      discontinuity,
      byVideo,
      ...(isSlate && { isSlate }),
    });
    this.#audio.segmentBegan();
  }
}
