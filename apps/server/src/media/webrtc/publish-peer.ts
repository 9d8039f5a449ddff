import { isIdrAccessUnit } from "@weir/formats/codecs";
import {
  H264Depacketizer,
  isRtcp,
  ReorderBuffer,
  type RtpPacket,
  type RtpPicture,
  readRtcp,
  readRtpPacket,
  roundTripMs,
  type SenderReport,
  writeNack,
  writePli,
  writeReceiverReport,
  writeReferenceTime,
  writeRemb,
} from "@weir/formats/rtp";
import type { Track } from "node-datachannel";
import { type MediaKind, type PeerEvents, PeerTransport } from "./peer-transport.ts";
import { PublishClock } from "./publish-clock.ts";
import { ReceiveRate } from "./receive-rate.ts";
import type { MediaFrame, PeerOffer, PeerReport, WebrtcStart } from "./webrtc-protocol.ts";

const LOOK_MS = 20;
const REPORT_MS = 500;
/** Interval of keyframe requests: segments start with keyframes. */
const KEYFRAME_MS = 2000;
/** Minimum interval of keyframe requests after damage. */
const MEND_MS = 400;

/** One publisher: reassembles its media, and requests keyframes, lost packets and a suitable bitrate. Runs only in the WebRTC child. */
export class PublishPeer {
  readonly #peer: number;
  readonly #transport: PeerTransport;
  readonly #video: Receiver | null;
  readonly #audio: Receiver | null;
  readonly #clock = new PublishClock();
  readonly #rate = new ReceiveRate();
  readonly #onFrame: (frame: MediaFrame) => void;
  readonly #depacketizer = new H264Depacketizer((picture) => this.#picture(picture));
  readonly #timer: NodeJS.Timeout;
  #waitsForIdr = true;
  #pliAt = Number.NEGATIVE_INFINITY;
  #reportedAt = Number.NEGATIVE_INFINITY;
  /** The highest value since the last report; null before the first packet. */
  #fractionLost: number | null = null;
  #roundTripMs: number | null = null;

  constructor(
    start: WebrtcStart,
    { peer, offer, plan }: PeerOffer,
    onFrame: (frame: MediaFrame) => void,
    events: PeerEvents,
  ) {
    this.#peer = peer;
    this.#onFrame = onFrame;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#transport = new PeerTransport(`publish-${peer}`, start, { offer, plan, direction: "RecvOnly" }, () => {}, {
      ...events,
      closed: (reason) => {
        clearInterval(this.#timer);
        events.closed(reason);
      },
    });
    const { video, audio } = this.#transport.tracks;
    this.#video =
      video && plan.video
        ? new Receiver(video, plan.video.payloadType, (packet, isAfterGap) =>
            this.#depacketizer.push(packet, isAfterGap),
          )
        : null;
    this.#audio =
      audio && plan.audio ? new Receiver(audio, plan.audio.payloadType, (packet) => this.#opus(packet)) : null;
    this.#listen("video", this.#video);
    this.#listen("audio", this.#audio);
  }

  close(reason: string): void {
    this.#transport.close(reason);
  }

  /** Transmission statistics since the last call; null before the first packet. */
  takeReport(): PeerReport | null {
    if (this.#fractionLost === null) return null;
    const report = {
      peer: this.#peer,
      fractionLost: this.#fractionLost,
      roundTripMs: this.#roundTripMs,
      retransmits: (this.#video?.askedAgain ?? 0) + (this.#audio?.askedAgain ?? 0),
      availableBps: null,
    };
    this.#fractionLost = null;
    return report;
  }

  #listen(kind: MediaKind, receiver: Receiver | null): void {
    receiver?.track.onError(() => {}); // the connection reports the end
    receiver?.track.onMessage((message) => {
      const now = performance.now();
      if (!isRtcp(message)) return receiver.take(message, now);
      for (const report of readRtcp(message)) {
        if (report.type === "reference") this.#roundTripMs = roundTripMs(report, Date.now()) ?? this.#roundTripMs;
        if (report.type !== "sender-report") continue;
        receiver.heard(report, now);
        this.#clock.report(kind, report.timestamp, report.sentAtMs);
      }
    });
  }

  #picture({ timestamp, data, isDamaged }: RtpPicture): void {
    const isIndependent = isIdrAccessUnit("avc", data);
    if (isDamaged || (this.#waitsForIdr && !isIndependent)) {
      this.#waitsForIdr = true;
      return this.#mend();
    }
    this.#waitsForIdr = false;
    const time = this.#clock.timeOf("video", timestamp, performance.now());
    this.#onFrame({ kind: "video", isIndependent, time, data });
  }

  #opus({ timestamp, payload }: RtpPacket): void {
    if (payload.length === 0) return;
    const time = this.#clock.timeOf("audio", timestamp, performance.now());
    this.#onFrame({ kind: "audio", isIndependent: true, time, data: payload });
  }

  #look(): void {
    if (!this.#transport.isConnected) return;
    const now = performance.now();
    for (const receiver of [this.#video, this.#audio]) receiver?.look(now);
    if (now - this.#pliAt >= KEYFRAME_MS) this.#askForKeyframe(now);
    if (now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    const lost = this.#video?.report(now) ?? 0;
    const lostSound = this.#audio?.report(now) ?? 0;
    const leading = this.#video ?? this.#audio;
    if (!leading?.ssrc) return;
    this.#fractionLost = Math.max(this.#fractionLost ?? 0, this.#video ? lost : lostSound);
    leading.send(writeReferenceTime(OWN_SSRC, Date.now()));
    if (this.#video?.ssrc) this.#video.send(writeRemb(OWN_SSRC, [this.#video.ssrc], this.#rate.next(lost)));
  }

  #mend(): void {
    const now = performance.now();
    if (now - this.#pliAt >= MEND_MS) this.#askForKeyframe(now);
  }

  #askForKeyframe(now: number): void {
    const ssrc = this.#video?.ssrc;
    if (!ssrc) return;
    this.#pliAt = now;
    this.#video?.send(writePli(OWN_SSRC, ssrc));
  }
}

/** Publishers receive no media, so any SSRC is free. */
const OWN_SSRC = 1;

/** One track of a publisher. */
class Receiver {
  readonly track: Track;
  /** Null until the first packet. */
  ssrc: number | null = null;
  /** Number of packets requested again. */
  askedAgain = 0;
  readonly #payloadType: number;
  readonly #buffer: ReorderBuffer;
  #heard: { readonly report: SenderReport; readonly at: number } | null = null;
  #before = { expected: 0, lost: 0 };

  constructor(track: Track, payloadType: number, onPacket: (packet: RtpPacket, isAfterGap: boolean) => void) {
    this.track = track;
    this.#payloadType = payloadType;
    this.#buffer = new ReorderBuffer(onPacket);
  }

  take(bytes: Uint8Array, now: number): void {
    const packet = readRtpPacket(bytes);
    if (!packet || packet.payloadType !== this.#payloadType) return;
    this.ssrc ??= packet.ssrc;
    if (packet.ssrc === this.ssrc) this.#buffer.push(packet, now);
  }

  heard(report: SenderReport, at: number): void {
    this.#heard = { report, at };
  }

  look(now: number): void {
    this.#buffer.tick(now);
    const wanted = this.#buffer.wanted(now);
    if (wanted.length === 0 || this.ssrc === null) return;
    this.askedAgain += wanted.length;
    this.send(writeNack(OWN_SSRC, this.ssrc, wanted));
  }

  /** Sends a receiver report. Returns the fraction of packets lost since the last one. */
  report(now: number): number {
    if (this.ssrc === null) return 0;
    const { expected, lost, highestSequence } = this.#buffer.statistics;
    const newly = Math.max(1, expected - this.#before.expected);
    const fractionLost = Math.max(0, (lost - this.#before.lost) / newly);
    this.#before = { expected, lost };
    const lastReport = this.#heard?.report.ntpMiddle ?? 0;
    const delaySeconds = this.#heard ? (now - this.#heard.at) / 1000 : 0;
    this.send(
      writeReceiverReport(OWN_SSRC, [
        { ssrc: this.ssrc, fractionLost, lost, highestSequence, lastReport, delaySeconds },
      ]),
    );
    return fractionLost;
  }

  send(rtcp: Uint8Array): void {
    try {
      this.track.sendMessageBinary(Buffer.from(rtcp.buffer));
    } catch {
      // The peer has gone; the connection reports the end.
    }
  }
}
