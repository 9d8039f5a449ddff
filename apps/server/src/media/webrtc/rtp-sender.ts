import { h264Payloads, RTP_HEADER_BYTES, type RtpPayload, writeRtpHeader, writeSenderReport } from "@weir/formats/rtp";
import type { Track } from "node-datachannel";
import { SentPackets } from "./sent-packets.ts";
import type { MediaFrame } from "./webrtc-protocol.ts";

export const CNAME = "weir";
/** Of frames. */
const TICKS_PER_SECOND = 90_000;
/** Fits the minimum IPv6 MTU with RTP, SRTP, UDP and IP headers. */
const MAX_PAYLOAD_BYTES = 1150;
/** An Opus packet is one payload: 120 ms at 510 kbit/s. */
const MAX_PACKET_BYTES = RTP_HEADER_BYTES + 8 * 1024;
/** Kept for retransmission: in video more than a second at 6 Mbit/s, in audio 2.5 s. */
const HISTORY_PACKETS = { video: 1024, audio: 128 };

/** The payloads of a frame, made once for all its viewers and kept as long as its bytes. */
const payloadsOf = new WeakMap<Uint8Array, readonly RtpPayload[]>();

/** Packets are written here; the library copies them while it encrypts. */
const packet = Buffer.alloc(MAX_PACKET_BYTES);
const packetView = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);

export interface RtpSenderSettings {
  readonly kind: MediaFrame["kind"];
  readonly track: Track;
  readonly ssrc: number;
  readonly payloadType: number;
  /** Ticks per second of its RTP timestamps. */
  readonly rate: number;
}

/** Sends one track to one viewer as RTP: packets, retransmissions and sender reports. Its times are ticks of the viewer's clock. */
export class RtpSender {
  readonly ssrc: number;
  /** Time of the newest frame. */
  sentTime = Number.NEGATIVE_INFINITY;
  readonly #settings: RtpSenderSettings;
  readonly #history: SentPackets;
  readonly #base = Math.floor(Math.random() * 2 ** 32);
  #sequence = Math.floor(Math.random() * 2 ** 16);
  #packets = 0;
  #bytes = 0;

  constructor(settings: RtpSenderSettings) {
    this.#settings = settings;
    this.ssrc = settings.ssrc;
    this.#history = new SentPackets(HISTORY_PACKETS[settings.kind]);
  }

  send(time: number, data: Uint8Array): void {
    this.sentTime = time;
    const timestamp = this.#timestampOf(time);
    for (const payload of this.#payloadsOf(data)) {
      const sequence = this.#sequence;
      this.#sequence = (sequence + 1) & 0xffff;
      this.#history.add(sequence, timestamp, payload);
      this.#packets++;
      this.#bytes += payload.head.length + payload.body.length;
      this.#write(sequence, timestamp, payload);
    }
  }

  /** Sends the requested packets again, each at most once in a round trip. Returns their number. */
  sendAgain(sequences: readonly number[], now: number, roundTripMs: number | null): number {
    let sent = 0;
    for (const sequence of sequences) {
      const found = this.#history.again(sequence, now, roundTripMs);
      if (!found) continue;
      this.#write(sequence, found.timestamp, found.payload);
      sent++;
    }
    return sent;
  }

  /** Reports that it is `unixMs` now, at `time` of the viewer's clock. */
  report(unixMs: number, time: number): void {
    const { ssrc } = this;
    const timestamp = this.#timestampOf(time);
    this.#put(writeSenderReport({ ssrc, cname: CNAME, unixMs, timestamp, packets: this.#packets, bytes: this.#bytes }));
  }

  #timestampOf(time: number): number {
    const ticks = this.#base + Math.round((time * this.#settings.rate) / TICKS_PER_SECOND);
    return ((ticks % 2 ** 32) + 2 ** 32) % 2 ** 32;
  }

  #payloadsOf(data: Uint8Array): readonly RtpPayload[] {
    const known = payloadsOf.get(data);
    if (known) return known;
    const made =
      this.#settings.kind === "video"
        ? h264Payloads(data, MAX_PAYLOAD_BYTES)
        : [{ head: data.subarray(0, 0), body: data, isLast: false }];
    payloadsOf.set(data, made);
    return made;
  }

  #write(sequence: number, timestamp: number, { head, body, isLast: marker }: RtpPayload): void {
    const { ssrc, payloadType } = this.#settings;
    const length = RTP_HEADER_BYTES + head.length + body.length;
    if (length > MAX_PACKET_BYTES) return;
    writeRtpHeader(packetView, { marker, payloadType, sequence, timestamp, ssrc });
    packet.set(head, RTP_HEADER_BYTES);
    packet.set(body, RTP_HEADER_BYTES + head.length);
    this.#put(packet.subarray(0, length));
  }

  #put(bytes: Uint8Array): void {
    try {
      this.#settings.track.sendMessageBinary(bytes as Buffer);
    } catch {
      // The peer has gone; the connection reports the end.
    }
  }
}
