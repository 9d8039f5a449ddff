import { lengthPrefixedToAnnexB } from "@weir/formats/codecs";
import {
  H264Depacketizer,
  isRtcp,
  type RtpPacket,
  readRtcp,
  readRtpPacket,
  type SenderReport,
} from "@weir/formats/rtp";
import { AV_CHANNEL_LAYOUT_STEREO, AV_CODEC_ID_H264, AV_CODEC_ID_OPUS, type AVCodecID } from "node-av/constants";
import { Codec, CodecContext, type Frame, Frame as LibFrame, Packet, Rational } from "node-av/lib";
import nodeDataChannel, { type PeerConnection, type Track } from "node-datachannel";

const { PeerConnection: Connection, Audio, Video } = nodeDataChannel;
const RATES = { video: 90_000, audio: 48_000 };
/** The library's offer fails occasionally if the answer arrives before its own description is set. */
const TRIES = 5;
const WHITE_ABOVE = 128;
const LOUD_ABOVE = 0.1;
/** Quiet for so long before a beep. */
const QUIET_SAMPLES = 10_000;
/** Pictures closer together catch up with the source, and have no sound. */
const CATCHING_UP_MS = 10;
/** A flash and a beep further apart belong to different seconds. */
const MAX_DISTANCE_MS = 500;

/** The packets and reports of one track, in order of arrival. */
class Received {
  readonly packets: { readonly packet: RtpPacket; readonly reports: number }[] = [];
  readonly reports: SenderReport[] = [];
  readonly #rate: number;

  constructor(rate: number) {
    this.#rate = rate;
  }

  listen(track: Track): void {
    track.onMessage((message) => {
      if (isRtcp(message)) {
        for (const report of readRtcp(message)) if (report.type === "sender-report") this.reports.push(report);
        return;
      }
      const packet = readRtpPacket(message);
      if (packet)
        this.packets.push({
          packet: { ...packet, payload: Uint8Array.from(packet.payload) },
          reports: this.reports.length,
        });
    });
  }

  /** The sender's clock at a timestamp, by the newest report that had arrived by then, or the first; NaN before any. */
  msOf(timestamp: number, reports: number): number {
    const report = this.reports[Math.max(0, reports - 1)];
    if (!report) return Number.NaN;
    return report.sentAtMs + (((timestamp - report.timestamp) | 0) * 1000) / this.#rate;
  }
}

/** A WHEP viewer that keeps what it receives, and finds in it how far apart flashes and beeps are. Nothing here depends on when packets arrive. */
export class FlashAndBeep implements Disposable {
  readonly #connection: PeerConnection;
  readonly #video: Received;
  readonly #audio: Received;
  readonly #held: unknown[];

  private constructor(connection: PeerConnection, video: Received, audio: Received, held: unknown[]) {
    this.#connection = connection;
    this.#video = video;
    this.#audio = audio;
    this.#held = held;
  }

  static async watch(url: string, tries = TRIES): Promise<FlashAndBeep> {
    const connection = new Connection("viewer", {
      ...{ iceServers: [], bindAddress: "127.0.0.1", disableAutoNegotiation: true },
    });
    const [video, audio] = [new Video("0", "RecvOnly"), new Audio("1", "RecvOnly")];
    video.addH264Codec(96, "profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1");
    audio.addOpusCodec(111);
    const tracks = [connection.addTrack(video), connection.addTrack(audio)] as const;
    const received = [new Received(RATES.video), new Received(RATES.audio)] as const;
    for (const n of [0, 1] as const) received[n].listen(tracks[n]);
    const gathered = Promise.withResolvers<void>();
    connection.onGatheringStateChange((state) => state === "complete" && gathered.resolve());
    const connected = Promise.withResolvers<boolean>();
    connection.onStateChange((state) => {
      if (state !== "connecting") connected.resolve(state === "connected");
    });
    connection.setLocalDescription("offer");
    await gathered.promise;
    const body = connection.localDescription()?.sdp ?? "";
    const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/sdp" }, body });
    if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
    try {
      connection.setRemoteDescription(await answer.text(), "answer");
    } catch {
      connected.resolve(false);
    }
    if (await connected.promise) return new FlashAndBeep(connection, ...received, [...tracks]);
    connection.close();
    if (tries <= 1) throw new Error("no connection");
    return FlashAndBeep.watch(url, tries - 1);
  }

  /** Milliseconds from each flash to its beep. Negative: the beep is early. */
  async distancesMs(): Promise<number[]> {
    const [flashes, beeps] = [await this.#flashes(), await this.#beeps()];
    return flashes.flatMap((flash) => {
      const distances = beeps.map((beep) => beep - flash).filter((ms) => Math.abs(ms) < MAX_DISTANCE_MS);
      const [nearest] = distances.toSorted((a, b) => Math.abs(a) - Math.abs(b));
      return nearest === undefined ? [] : [nearest];
    });
  }

  [Symbol.dispose](): void {
    this.#connection.close();
    this.#held.length = 0;
  }

  async #flashes(): Promise<number[]> {
    const times: number[] = [];
    let wasWhite = true;
    let [ms, before] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
    await using decoder = await Decoder.open(AV_CODEC_ID_H264, ({ data, width, height, linesize }) => {
      const luma = data?.[0]?.[Math.floor(height / 2) * (linesize[0] ?? 0) + Math.floor(width / 2)] ?? 0;
      const isWhite = luma > WHITE_ABOVE;
      if (isWhite && !wasWhite && ms - before > CATCHING_UP_MS) times.push(ms);
      wasWhite = isWhite;
    });
    const units: { readonly data: Uint8Array; readonly ms: number }[] = [];
    let reports = 0;
    const depacketizer = new H264Depacketizer(({ timestamp, data }) =>
      units.push({ data, ms: this.#video.msOf(timestamp, reports) }),
    );
    for (const { packet, reports: heard } of this.#video.packets) {
      reports = heard;
      depacketizer.push(packet, false);
    }
    for (const unit of units) {
      before = ms;
      ms = unit.ms;
      await decoder.decode(lengthPrefixedToAnnexB(unit.data));
    }
    return times;
  }

  async #beeps(): Promise<number[]> {
    const times: number[] = [];
    let ms = 0;
    let quiet = 0;
    await using decoder = await Decoder.open(AV_CODEC_ID_OPUS, ({ data, nbSamples }) => {
      for (let n = 0; n < nbSamples; n++) {
        const isLoud = Math.abs(data?.[0]?.readFloatLE(n * 4) ?? 0) > LOUD_ABOVE;
        if (isLoud && quiet >= QUIET_SAMPLES) times.push(ms + (n * 1000) / RATES.audio);
        quiet = isLoud ? 0 : quiet + 1;
      }
    });
    for (const { packet, reports } of this.#audio.packets) {
      ms = this.#audio.msOf(packet.timestamp, reports);
      await decoder.decode(packet.payload);
    }
    return times;
  }
}

/** Gives a frame for each packet. */
class Decoder implements AsyncDisposable {
  readonly #context: CodecContext;
  readonly #onFrame: (frame: Frame) => void;
  readonly #packet = new Packet();
  readonly #frame = new LibFrame();

  private constructor(context: CodecContext, onFrame: (frame: Frame) => void) {
    this.#context = context;
    this.#onFrame = onFrame;
    this.#packet.alloc();
    this.#frame.alloc();
  }

  static async open(id: AVCodecID, onFrame: (frame: Frame) => void): Promise<Decoder> {
    const codec = Codec.findDecoder(id);
    const context = new CodecContext();
    context.allocContext3(codec);
    context.threadCount = 1;
    context.pktTimebase = new Rational(1, RATES.video);
    if (id === AV_CODEC_ID_OPUS) {
      context.sampleRate = RATES.audio;
      context.channelLayout = AV_CHANNEL_LAYOUT_STEREO;
    }
    if ((await context.open2(codec)) < 0) throw new Error("no decoder");
    return new Decoder(context, onFrame);
  }

  async decode(data: Uint8Array): Promise<void> {
    this.#packet.data = Buffer.from(data);
    await this.#context.sendPacket(this.#packet);
    this.#packet.unref();
    while ((await this.#context.receiveFrame(this.#frame)) >= 0) {
      this.#onFrame(this.#frame);
      this.#frame.unref();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#context.freeContext();
    this.#packet.free();
    this.#frame.free();
  }
}
