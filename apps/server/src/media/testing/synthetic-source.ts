import { type AudioTrack, Payload, type SourcePacket, type VideoTrack } from "../packet.ts";

/** As x264 writes it for baseline 640x360. */
export const VIDEO: VideoTrack = {
  id: 0,
  kind: "video",
  codec: "avc",
  config: Buffer.from("0142c016ffe100186742c016da0280bfe584000003000400000300783c58ba8001000468ce0fc8", "hex"),
  codecString: "avc1.42c016",
  width: 640,
  height: 360,
};

export const AUDIO: AudioTrack = {
  id: 1,
  kind: "audio",
  codec: "aac",
  config: Uint8Array.of(0x11, 0x90),
  codecString: "mp4a.40.2",
  sampleRate: 48_000,
  channels: 2,
  frameSamples: 1024,
};

export interface SourceShape {
  readonly frameRate?: number;
  /** Seconds between IDR pictures. */
  readonly gopSeconds?: number;
  /** B-frames between reference pictures: decoding order and composition offsets follow. */
  readonly bFrames?: number;
  readonly video?: boolean;
  readonly audio?: boolean;
  /** First second that is not sent any more. */
  readonly seconds: number;
  /** The reading of the source's clock at second 0, in seconds. */
  readonly clockAt?: number;
  /** Audio runs this much faster than the video's clock. */
  readonly audioSpeed?: number;
  /** Whole milliseconds, as RTMP has them. */
  readonly milliseconds?: boolean;
  /** Bytes of a frame's data. */
  readonly frameBytes?: number;
}

/** A packet and when it arrives, in milliseconds since second 0. */
export interface Arrival {
  readonly at: number;
  readonly packet: SourcePacket;
}

/** The packets of a source, in order of arrival: each one arrives when its decoding time has come. */
export function syntheticSource(shape: SourceShape): Arrival[] {
  const arrivals = [...(shape.video === false ? [] : videoOf(shape)), ...(shape.audio === false ? [] : audioOf(shape))];
  return arrivals.sort((a, b) => a.at - b.at || (a.packet.kind === "video" ? -1 : 1));
}

function videoOf({
  frameRate = 30,
  gopSeconds = 2,
  bFrames = 0,
  seconds,
  clockAt = 0,
  milliseconds,
  frameBytes = 100,
}: SourceShape) {
  const gop = Math.max(1, Math.round(gopSeconds * frameRate));
  const ticks = (frame: number): number => {
    const exact = (frame / frameRate + clockAt) * 90_000;
    return milliseconds ? Math.round(exact / 90) * 90 : Math.round(exact);
  };
  const arrivals: Arrival[] = [];
  for (let frame = 0; frame < Math.round(seconds * frameRate); frame++) {
    const isIndependent = frame % gop === 0;
    // Decoding order I P B B P B B …: a reference picture is shown bFrames later than it is decoded, each B-frame one earlier.
    const inGroup = (frame % gop) % (bFrames + 1);
    const reorder = bFrames === 0 ? 0 : isIndependent ? 1 : inGroup === 1 || bFrames === 0 ? bFrames + 1 : 0;
    const data = new Payload(new Uint8Array(frameBytes).fill(frame & 0xff));
    const packet: SourcePacket = {
      trackId: 0,
      kind: "video",
      dts: ticks(frame),
      pts: ticks(frame + reorder),
      isIndependent,
      data,
    };
    arrivals.push({ at: (frame / frameRate) * 1000, packet });
  }
  return arrivals;
}

function audioOf({ seconds, clockAt = 0, audioSpeed = 1, milliseconds }: SourceShape) {
  const arrivals: Arrival[] = [];
  for (let frame = 0; (frame * 1024) / 48_000 < seconds; frame++) {
    const second = (frame * 1024) / 48_000;
    const exact = (second * audioSpeed + clockAt) * 90_000;
    const time = milliseconds ? Math.round(exact / 90) * 90 : Math.round(exact);
    const packet: SourcePacket = {
      trackId: 1,
      kind: "audio",
      dts: time,
      pts: time,
      isIndependent: true,
      data: new Payload(new Uint8Array(10)),
    };
    arrivals.push({ at: second * 1000, packet });
  }
  return arrivals;
}

export const SECOND_AUDIO: AudioTrack = { ...AUDIO, id: 2 };

/** The same source with each audio packet once more, on `SECOND_AUDIO`. */
export function withSecondAudio(arrivals: readonly Arrival[]): Arrival[] {
  return arrivals.flatMap(({ at, packet }) => {
    if (packet.trackId !== AUDIO.id) return [{ at, packet }];
    const data = new Payload(packet.data.bytes);
    return [
      { at, packet },
      { at, packet: { ...packet, trackId: SECOND_AUDIO.id, data } },
    ];
  });
}
