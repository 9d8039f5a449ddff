import { isRtcp, type RtcpReport, readRtcp, roundTripMs } from "@weir/formats/rtp";
import nodeDataChannel, { type RtpPacketizationConfig, type Track } from "node-datachannel";
import { AskedAgain } from "./asked-again.ts";
import type { FanOut } from "./fan-out.ts";
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
/** Fits the smallest path of IPv6, with SRTP and UDP around it. */
const MAX_PACKET_BYTES = 1150;
/** Packets that are kept to be sent again: a second of 6 Mbit/s. */
const HISTORY_PACKETS = 640;
/** Pictures that a viewer catches up with are sent at 26 Mbit/s: what comes at once is lost in buffers on the way. */
const BURST_BYTES = 16 * 1024;
const BURST_PAUSE_MS = 5;
/** Between two pictures that are sent faster than they were made. */
const CATCH_UP_TICKS = VIDEO_RATE / 1000;
/** A browser that misses pictures asks again and again until it has a keyframe. */
const REJOIN_MS = 400;

/** One viewer: gets the pictures of a source from its last keyframe on, and Opus as it comes. Tells how they get through. Runs inside the WebRTC child only. */
export class WatchPeer {
  readonly #peer: number;
  #source: FanOut;
  /** The source that it gets from its next keyframe on; null where it has what it is to get. */
  #next: FanOut | null = null;
  readonly #transport: PeerTransport;
  readonly #video: Sender | null;
  readonly #audio: Sender | null;
  /** The frames that it has to catch up with; null while it gets each picture as it comes. */
  #behind: MediaFrame[] | null = null;
  #burst: NodeJS.Timeout | null = null;
  #waitsForKeyframe = true;
  #joinedAt = 0;
  #isKeyframesOnly = false;
  /** It gets no pictures until the next source's first. */
  #isStopped = false;
  /** Since the last report to the parent. */
  #reports = 0;
  #fractionsLost = 0;
  #availableBps: number | null = null;
  #roundTripMs: number | null = null;
  readonly #askedAgain = new AskedAgain();

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
    for (const track of [tracks.video, tracks.audio]) track?.onError(() => {}); // its connection tells the end
    source.join(this);
  }

  close(reason: string): void {
    this.#transport.close(reason);
  }

  /** Get this source from its next keyframe on. */
  show(source: FanOut, { isKeyframesOnly, stopsBefore }: ShownHow): void {
    this.#next?.leave(this);
    this.#next = source === this.#source ? null : source;
    this.#next?.join(this);
    if (isKeyframesOnly || stopsBefore) this.#behind = null;
    if (this.#isKeyframesOnly || this.#isStopped) this.#waitsForKeyframe = true;
    this.#isKeyframesOnly = isKeyframesOnly;
    this.#isStopped = stopsBefore && this.#next !== null;
  }

  /** What the viewer has told since the last time; null for nothing. */
  takeReport(): PeerReport | null {
    if (this.#reports === 0) return null;
    const report = {
      peer: this.#peer,
      fractionLost: this.#fractionsLost / this.#reports,
      roundTripMs: this.#roundTripMs,
      retransmits: this.#askedAgain.total,
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
    if (this.#behind) this.#behind.push(frame);
    else this.#picture(frame);
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

  /** Begin at the last keyframe, or with the next one where none is kept. */
  #join(): void {
    if (!this.#video) return;
    this.#joinedAt = performance.now();
    const pictures = this.#isKeyframesOnly ? this.#source.gop.slice(0, 1) : [...this.#source.gop];
    if (pictures.length === 0) return;
    const last = pictures.at(-1)?.time ?? 0;
    // Times never go back: pictures that are sent a second time follow what was sent.
    this.#video.shift += Math.max(0, this.#video.sentTime - last + pictures.length * CATCH_UP_TICKS);
    this.#behind = pictures.map((picture, index) => ({
      ...picture,
      time: last - (pictures.length - 1 - index) * CATCH_UP_TICKS,
    }));
    this.#catchUp();
  }

  #catchUp(): void {
    this.#burst = null;
    const behind = this.#behind;
    let bytes = 0;
    while (behind && behind.length > 0 && bytes < BURST_BYTES) {
      const picture = behind.shift();
      if (!picture) break;
      bytes += picture.data.length;
      this.#picture(picture);
    }
    if (behind && behind.length > 0) this.#burst = setTimeout(() => this.#catchUp(), BURST_PAUSE_MS);
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
      if (this.#askedAgain.add(report.count, performance.now())) return;
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

/** One track of a viewer: RTP, sender reports, and packets of video again that the viewer asks for, all in the library. */
class Sender {
  /** Added to all times from now on. */
  shift = 0;
  /** Of the newest frame. */
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

  /** Nothing is sent again, or at all, from now on. */
  stop(): void {
    this.#track.setMediaHandler(new RtpPacketizer(this.#config));
  }

  /** What follows has another source's times: it goes on where what was sent would be by now. */
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
      // The peer went away between two looks; its connection tells the end.
    }
  }
}
