import { isRtcp, type RtcpReport, readRtcp, roundTripMs } from "@weir/formats/rtp";
import type { Track } from "node-datachannel";
import { CatchUpQueue, catchUpTimes } from "./catch-up-queue.ts";
import type { FanOut } from "./fan-out.ts";
import { NackLimit } from "./nack-limit.ts";
import { type PeerEvents, PeerTransport } from "./peer-transport.ts";
import { CNAME, RtpSender } from "./rtp-sender.ts";
import {
  ASKS_TOO_MUCH,
  type MediaFrame,
  type PeerOffer,
  type PeerReport,
  type ShownHow,
  type WebrtcStart,
} from "./webrtc-protocol.ts";

const VIDEO_RATE = 90_000;
const AUDIO_RATE = 48_000;
/** Pictures that a joining viewer catches up with are paced at 26 Mbit/s: larger bursts overflow buffers on the network path. */
const BURST_BYTES = 16 * 1024;
const BURST_PAUSE_MS = 5;
/** A keyframe request within a round trip and this time crossed the keyframe. */
const CROSSING_MS = 100;
const ASSUMED_ROUND_TRIP_MS = 300;
/** Interval of sender reports. */
const REPORT_MS = 1000;

/** One viewer: receives a source's pictures from the last keyframe on, and its Opus packets. Reports its reception. Runs only in the WebRTC child. */
export class WatchPeer {
  readonly #peer: number;
  #source: FanOut;
  /** The source to switch to at its next keyframe; null for none. */
  #next: FanOut | null = null;
  readonly #transport: PeerTransport;
  readonly #video: RtpSender | null;
  readonly #audio: RtpSender | null;
  /** Added to all times of the source, so that the viewer's times never go back. Both tracks have the same, and stay together. */
  #shift = 0;
  /** The next picture comes from another source. */
  #isOtherClock = false;
  #pictureSentAt = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** The pictures to catch up with; null once the viewer is in real time. */
  #behind: CatchUpQueue | null = null;
  #burst: NodeJS.Timeout | null = null;
  #waitsForKeyframe = true;
  #keyframeSentAt = 0;
  #isKeyframesOnly = false;
  /** True while no pictures are sent until the next source starts. */
  #isStopped = false;
  /** Statistics since the last report to the parent. */
  #reports = 0;
  #fractionsLost = 0;
  #availableBps: number | null = null;
  #roundTripMs: number | null = null;
  readonly #nacks = new NackLimit();

  constructor(start: WebrtcStart, { peer, offer, plan }: PeerOffer, source: FanOut, events: PeerEvents) {
    this.#peer = peer;
    this.#source = source;
    const ssrcs = { video: randomSsrc(), audio: randomSsrc() };
    this.#transport = new PeerTransport(
      `watch-${peer}`,
      start,
      { offer, plan, direction: "SendOnly" },
      (kind, description) => {
        description.addSSRC(ssrcs[kind], CNAME, STREAM, `${STREAM}-${kind}`);
        // The library offers it for video by itself.
        if (kind === "audio" && plan.audio?.supportsNack)
          description.parseSdpLine(`a=rtcp-fb:${plan.audio.payloadType} nack`);
      },
      {
        ...events,
        connected: () => {
          events.connected();
          this.#join();
        },
        closed: (reason) => {
          if (this.#burst) clearTimeout(this.#burst);
          this.#source.leave(this);
          this.#next?.leave(this);
          events.closed(reason);
        },
      },
    );
    const { tracks } = this.#transport;
    const sender = (kind: MediaFrame["kind"], rate: number): RtpSender | null => {
      const [track, chosen] = [tracks[kind], plan[kind]];
      return track && chosen
        ? new RtpSender({ kind, track, ssrc: ssrcs[kind], payloadType: chosen.payloadType, rate })
        : null;
    };
    this.#video = sender("video", VIDEO_RATE);
    this.#audio = sender("audio", AUDIO_RATE);
    this.#listen(tracks.video, this.#video);
    this.#listen(tracks.audio, this.#audio);
    source.join(this);
  }

  close(reason: string): void {
    this.#transport.close(reason);
  }

  /** Switches to this source at its next keyframe. */
  show(source: FanOut, { isKeyframesOnly, stopsBefore }: ShownHow): void {
    this.#next?.leave(this);
    this.#next = source === this.#source ? null : source;
    this.#next?.join(this);
    if (isKeyframesOnly || stopsBefore) this.#behind = null;
    if (this.#isKeyframesOnly || this.#isStopped) this.#waitsForKeyframe = true;
    this.#isKeyframesOnly = isKeyframesOnly;
    this.#isStopped = stopsBefore && this.#next !== null;
  }

  /** The viewer's statistics since the last call; null for none. */
  takeReport(): PeerReport | null {
    if (this.#reports === 0) return null;
    const report = {
      peer: this.#peer,
      fractionLost: this.#fractionsLost / this.#reports,
      roundTripMs: this.#roundTripMs,
      retransmits: this.#nacks.total,
      availableBps: this.#availableBps,
    };
    this.#reports = 0;
    this.#fractionsLost = 0;
    this.#availableBps = null;
    return report;
  }

  frame(frame: MediaFrame, from: FanOut): void {
    if (!this.#transport.isConnected) return;
    if (from === this.#next && frame.kind === "video" && frame.isIndependent) this.#change(from);
    if (from !== this.#source) return;
    if (frame.kind === "audio") return this.#sound(frame);
    if (!this.#behind) this.#picture(frame);
    else if (!this.#behind.add(frame)) {
      this.#behind = null;
      this.#waitsForKeyframe = true;
    }
  }

  #change(source: FanOut): void {
    this.#source.leave(this);
    this.#source = source;
    this.#next = null;
    this.#isStopped = false;
    this.#behind = null;
    this.#isOtherClock = true;
  }

  #picture(frame: MediaFrame): void {
    if (frame.isIndependent) this.#waitsForKeyframe = false;
    else if (this.#waitsForKeyframe || this.#isKeyframesOnly) return;
    const video = this.#video;
    if (this.#isStopped || !video) return;
    const now = performance.now();
    const hasSent = video.sentTime !== Number.NEGATIVE_INFINITY;
    // Another source may be behind: its first picture continues the last one by the time that has passed.
    if (this.#isOtherClock && hasSent)
      this.#shift = video.sentTime - frame.time + ((now - this.#pictureSentAt) * VIDEO_RATE) / 1000;
    if (frame.isIndependent && !this.#behind) this.#keyframeSentAt = now;
    video.send(Math.max(frame.time + this.#shift, video.sentTime + 1), frame.data);
    this.#pictureSentAt = now;
    this.#report(now, this.#isOtherClock || !hasSent);
    this.#isOtherClock = false;
  }

  #sound(frame: MediaFrame): void {
    const audio = this.#audio;
    const time = frame.time + this.#shift;
    // Of another source, what was heard already.
    if (!audio || time <= audio.sentTime) return;
    const isFirst = audio.sentTime === Number.NEGATIVE_INFINITY;
    audio.send(time, frame.data);
    this.#report(performance.now(), isFirst);
  }

  /** Reports the time of the source's timeline for both tracks, so that their distance is the source's, however late each is sent. */
  #report(now: number, isDue: boolean): void {
    if (!isDue && now - this.#reportedAt < REPORT_MS) return;
    const { clock } = this.#source;
    if (!clock) return;
    this.#reportedAt = now;
    const unixMs = Date.now();
    const time = clock.ticks + ((unixMs - clock.unixMs) * VIDEO_RATE) / 1000 + this.#shift;
    for (const sender of [this.#video, this.#audio])
      if (sender && sender.sentTime !== Number.NEGATIVE_INFINITY) sender.report(unixMs, time);
  }

  /** Starts at the last keyframe, or at the next one if none is kept. */
  #join(): void {
    if (!this.#video) return;
    this.#keyframeSentAt = performance.now();
    const pictures = this.#isKeyframesOnly ? this.#source.gop.slice(0, 1) : [...this.#source.gop];
    if (pictures.length === 0) return;
    const times = catchUpTimes(pictures, this.#video.sentTime - this.#shift);
    this.#behind = new CatchUpQueue(pictures.map((picture, n) => ({ ...picture, time: times[n] ?? picture.time })));
    this.#catchUp();
  }

  #catchUp(): void {
    if (this.#burst) clearTimeout(this.#burst);
    this.#burst = null;
    const behind = this.#behind;
    let bytes = 0;
    while (bytes < BURST_BYTES) {
      const picture = behind?.take();
      if (!picture) break;
      bytes += picture.data.length;
      this.#picture(picture);
    }
    if (behind && !behind.isEmpty) this.#burst = setTimeout(() => this.#catchUp(), BURST_PAUSE_MS);
    else this.#behind = null;
  }

  /** Reports about other tracks arrive here as well, because a viewer may send them together. */
  #listen(track: Track | null, sender: RtpSender | null): void {
    track?.onError(() => {}); // the connection reports the end
    track?.onMessage((message) => {
      if (!sender || !isRtcp(message)) return;
      for (const report of readRtcp(message)) this.#take(report, sender);
    });
  }

  #take(report: RtcpReport, sender: RtpSender): void {
    const now = performance.now();
    if (report.type === "reception") {
      if (report.ssrc !== sender.ssrc) return;
      this.#roundTripMs = roundTripMs(report, Date.now()) ?? this.#roundTripMs;
      if (sender !== (this.#video ?? this.#audio)) return;
      this.#reports++;
      this.#fractionsLost += report.fractionLost;
    } else if (report.type === "bandwidth")
      this.#availableBps = Math.min(this.#availableBps ?? Number.POSITIVE_INFINITY, report.bitsPerSecond);
    else if (report.type === "nack") {
      if (report.ssrc !== sender.ssrc) return;
      if (this.#nacks.add(report.sequences.length, now)) sender.sendAgain(report.sequences, now, this.#roundTripMs);
      else this.close(ASKS_TOO_MUCH);
    } else if (report.type === "keyframe-request" && sender === this.#video && !this.#isStopped) {
      const crossingMs = CROSSING_MS + (this.#roundTripMs ?? ASSUMED_ROUND_TRIP_MS);
      if (now - this.#keyframeSentAt > crossingMs) this.#join();
    }
  }
}

const STREAM = "weir";

const randomSsrc = (): number => 1 + Math.floor(Math.random() * (2 ** 31 - 2));
