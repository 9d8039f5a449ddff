import { isRtcp, type RtcpReport, readRtcp, roundTripMs } from "@weir/formats/rtp";
import nodeDataChannel, { type RtpPacketizationConfig, type Track } from "node-datachannel";
import { CatchUpQueue } from "./catch-up-queue.ts";
import type { FanOut } from "./fan-out.ts";
import { NackLimit } from "./nack-limit.ts";
import { type PeerEvents, PeerTransport } from "./peer-transport.ts";
import {
  ASKS_TOO_MUCH,
  type MediaFrame,
  type PeerOffer,
  type PeerReport,
  type ShownHow,
  type WebrtcStart,
} from "./webrtc-protocol.ts";

const {
  H264RtpPacketizer,
  RtcpNackResponder,
  RtcpSrReporter,
  RtpPacketizer,
  RtpPacketizationConfig: RtpConfig,
} = nodeDataChannel;

const VIDEO_RATE = 90_000;
const AUDIO_RATE = 48_000;
/** Fits the minimum IPv6 MTU with SRTP, UDP and IP headers. */
const MAX_PACKET_BYTES = 1150;
/** Packets kept for retransmission: one second at 6 Mbit/s. */
const HISTORY_PACKETS = 640;
/** Pictures that a joining viewer catches up with are paced at 26 Mbit/s: larger bursts overflow buffers on the network path. */
const BURST_BYTES = 16 * 1024;
const BURST_PAUSE_MS = 5;
/** Timestamp distance between pictures sent faster than real time. */
const CATCH_UP_TICKS = VIDEO_RATE / 1000;
/** A browser without a keyframe repeats its request; requests within this time are ignored. */
const REJOIN_MS = 400;

/** One viewer: receives a source's pictures from the last keyframe on, and its Opus packets. Reports its reception. Runs only in the WebRTC child. */
export class WatchPeer {
  readonly #peer: number;
  #source: FanOut;
  /** The source to switch to at its next keyframe; null for none. */
  #next: FanOut | null = null;
  readonly #transport: PeerTransport;
  readonly #video: Sender | null;
  readonly #audio: Sender | null;
  /** The pictures to catch up with; null once the viewer is in real time. */
  #behind: CatchUpQueue | null = null;
  #burst: NodeJS.Timeout | null = null;
  #waitsForKeyframe = true;
  #joinedAt = 0;
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
    const configs = {
      video: plan.video && new RtpConfig(ssrcs.video, CNAME, plan.video.payloadType, VIDEO_RATE),
      audio: plan.audio && new RtpConfig(ssrcs.audio, CNAME, plan.audio.payloadType, AUDIO_RATE),
    };
    this.#transport = new PeerTransport(
      `watch-${peer}`,
      start,
      { offer, plan, direction: "SendOnly" },
      (kind, description) => description.addSSRC(ssrcs[kind], CNAME, STREAM, `${STREAM}-${kind}`),
      {
        answered: (sdp) => events.answered(sdp),
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
    this.#video = tracks.video && configs.video ? new Sender(tracks.video, configs.video, VIDEO_RATE) : null;
    this.#audio = tracks.audio && configs.audio ? new Sender(tracks.audio, configs.audio, AUDIO_RATE) : null;
    tracks.video?.onMessage((message) => {
      if (isRtcp(message)) for (const report of readRtcp(message)) this.#take(report);
    });
    for (const track of [tracks.video, tracks.audio]) track?.onError(() => {}); // the connection reports the end
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
    if (frame.kind === "audio") return this.#audio?.send(frame);
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
    this.#video?.changeClock();
    this.#audio?.changeClock();
  }

  #picture(frame: MediaFrame): void {
    if (frame.isIndependent) this.#waitsForKeyframe = false;
    else if (this.#waitsForKeyframe || this.#isKeyframesOnly) return;
    if (!this.#isStopped) this.#video?.send(frame);
  }

  /** Starts at the last keyframe, or at the next one if none is kept. */
  #join(): void {
    if (!this.#video) return;
    this.#joinedAt = performance.now();
    const pictures = this.#isKeyframesOnly ? this.#source.gop.slice(0, 1) : [...this.#source.gop];
    if (pictures.length === 0) return;
    const last = pictures.at(-1)?.time ?? 0;
    // Timestamps must not go back: pictures sent again get later ones.
    this.#video.shift += Math.max(0, this.#video.sentTime - last + pictures.length * CATCH_UP_TICKS);
    this.#behind = new CatchUpQueue(
      pictures.map((picture, index) => ({
        ...picture,
        time: last - (pictures.length - 1 - index) * CATCH_UP_TICKS,
      })),
    );
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

  #take(report: RtcpReport): void {
    if (report.type === "reception") {
      this.#reports++;
      this.#fractionsLost += report.fractionLost;
      this.#roundTripMs = roundTripMs(report, Date.now()) ?? this.#roundTripMs;
    } else if (report.type === "bandwidth")
      this.#availableBps = Math.min(this.#availableBps ?? Number.POSITIVE_INFINITY, report.bitsPerSecond);
    else if (report.type === "nack") {
      if (this.#nacks.add(report.count, performance.now())) return;
      // Until it has sent all that was asked for, the library hears nobody else, and does not close.
      this.#video?.stop();
      this.close(ASKS_TOO_MUCH);
    } else if (
      report.type === "keyframe-request" &&
      !this.#behind &&
      !this.#isStopped &&
      performance.now() - this.#joinedAt > REJOIN_MS
    )
      this.#join();
  }
}

const CNAME = "weir";
const STREAM = "weir";

const randomSsrc = (): number => 1 + Math.floor(Math.random() * (2 ** 31 - 2));

/** One track of a viewer. The library does RTP, sender reports and, for video, retransmissions. */
class Sender {
  /** Added to all timestamps from now on. */
  shift = 0;
  /** Time of the newest frame. */
  sentTime = Number.NEGATIVE_INFINITY;
  #sentAt = 0;
  #isOtherClock = false;
  readonly #track: Track;
  readonly #config: RtpPacketizationConfig;
  readonly #ticks: number;
  readonly #base = Math.floor(Math.random() * 2 ** 31);

  constructor(track: Track, config: RtpPacketizationConfig, rate: number) {
    this.#track = track;
    this.#config = config;
    this.#ticks = rate / VIDEO_RATE;
    const isVideo = rate === VIDEO_RATE;
    const packetizer = isVideo ? new H264RtpPacketizer("Length", config, MAX_PACKET_BYTES) : new RtpPacketizer(config);
    packetizer.addToChain(new RtcpSrReporter(config));
    // Answers offer it for video alone.
    if (isVideo) packetizer.addToChain(new RtcpNackResponder(HISTORY_PACKETS));
    track.setMediaHandler(packetizer);
  }

  /** From now on, nothing is sent or retransmitted. */
  stop(): void {
    this.#track.setMediaHandler(new RtpPacketizer(this.#config));
  }

  /** The next frame comes from another source. Its timestamp continues the previous ones by the wall-clock time passed. */
  changeClock(): void {
    this.#isOtherClock = this.sentTime !== Number.NEGATIVE_INFINITY;
  }

  send({ time, data }: MediaFrame): void {
    const now = performance.now();
    if (this.#isOtherClock) this.shift += this.sentTime - time + ((now - this.#sentAt) * VIDEO_RATE) / 1000;
    this.#isOtherClock = false;
    this.#sentAt = now;
    this.sentTime = time;
    this.#config.timestamp = (this.#base + Math.round((time + this.shift) * this.#ticks)) % 2 ** 32;
    try {
      this.#track.sendMessageBinary(data as Buffer);
    } catch {
      // The peer has gone; the connection reports the end.
    }
  }
}
