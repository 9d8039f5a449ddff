import type { Offer } from "@weir/formats/sdp";
import { FrameWriter, frameReader, jsonFrame } from "../../platform/pipe-frames.ts";

/**
 * Messages between the WebRTC child and its parent, as frames over two pipes: file descriptor 3 into the child and 4 out of it. The parent numbers
 * peers and sources. A peer ends with `close` from the parent or `closed` from the child; its number is not reused.
 */

/** The reason for closing a viewer that requests endless retransmissions. */
export const ASKS_TOO_MUCH = "it requested more retransmissions than any player needs";

/** The beginning of the reason for closing a peer whose offer the library rejects; what is wrong with it follows. */
export const REJECTED_OFFER = "The offer is not one that this server can answer: ";

/** The part of the offer that the child needs: the sections to answer, and their codecs. */
export type PeerPlan = Pick<Offer, "video" | "audio" | "unused">;

export interface WebrtcStart {
  /** The UDP port shared by all peers. */
  readonly port: number;
  /** Null binds to all addresses. */
  readonly bindAddress: string | null;
  /** The UDP port for TURN servers, where there are any. */
  readonly relayedPort?: number | null;
}

export interface PeerOffer {
  readonly peer: number;
  readonly offer: string;
  readonly plan: PeerPlan;
}

/** One picture as NAL units with 4-byte lengths, parameter sets included in an IDR; or one Opus packet. */
export interface MediaFrame {
  readonly kind: "video" | "audio";
  readonly isIndependent: boolean;
  /** 90 kHz ticks on a clock common to audio and video. */
  readonly time: number;
  readonly data: Uint8Array;
}

/** The wall-clock time of a position on a source's timeline, and so of all others until the next. */
export interface TimelineClock {
  /** 90 kHz, like the times of frames. */
  readonly ticks: number;
  readonly unixMs: number;
}

export interface ShownHow {
  /** Send only keyframes of it. */
  readonly isKeyframesOnly: boolean;
  /**
   * Stop the pictures of the current source immediately, because the viewer's network cannot carry them. Otherwise they continue until the switch.
   */
  readonly stopsBefore: boolean;
}

/** Transmission statistics of a viewer or a publisher. */
export interface PeerReport {
  readonly peer: number;
  /** Fraction of video packets lost since the last report, 0 to 1. */
  readonly fractionLost: number;
  /** Null if unknown or not reported. */
  readonly roundTripMs: number | null;
  /** Total number of packets requested again. */
  readonly retransmits: number;
  /** The lowest bitrate estimate of the viewer (REMB) since the last report; null without one. */
  readonly availableBps: number | null;
}

/** Parent to child. */
export type ToWebrtcChild =
  | { readonly type: "start"; readonly start: WebrtcStart }
  /** The peer receives the frames of `source`. */
  | ({ readonly type: "watch"; readonly source: number } & PeerOffer)
  | ({ readonly type: "publish" } & PeerOffer)
  /** The viewer switches to this source at its next keyframe. */
  | ({ readonly type: "show"; readonly peer: number; readonly source: number } & ShownHow)
  | { readonly type: "close"; readonly peer: number }
  /** For all viewers of the source. */
  | { readonly type: "frame"; readonly source: number; readonly frame: MediaFrame }
  | { readonly type: "clock"; readonly source: number; readonly clock: TimelineClock }
  /** The source has ended. Its viewers were closed before. */
  | { readonly type: "end-source"; readonly source: number };

/** Child to parent. */
export type FromWebrtcChild =
  | { readonly type: "answer"; readonly peer: number; readonly sdp: string }
  | { readonly type: "connected"; readonly peer: number }
  | { readonly type: "closed"; readonly peer: number; readonly reason: string }
  /** A frame from a publisher. */
  | { readonly type: "frame"; readonly peer: number; readonly frame: MediaFrame }
  /** Sent once a second, with the peers that have new statistics. */
  | { readonly type: "reports"; readonly reports: readonly PeerReport[] };

const JSON_FRAME = 1;
const MEDIA_FRAME = 2;

const FRAME_HEADER_BYTES = 13;

/** The frame of one message, in a new buffer. */
export function frameToWebrtcChild(message: ToWebrtcChild): Uint8Array {
  return message.type === "frame" ? mediaFrame(message.source, message.frame) : jsonFrame(JSON_FRAME, message);
}

/** The frame of one message, in a new buffer. */
export function frameFromWebrtcChild(message: FromWebrtcChild): Uint8Array {
  return message.type === "frame" ? mediaFrame(message.peer, message.frame) : jsonFrame(JSON_FRAME, message);
}

/** Returns a function that takes chunks of the child's input pipe and returns the complete messages. Throws for malformed frames. */
export function toWebrtcChildReader(): (bytes: Uint8Array) => ToWebrtcChild[] {
  return frameReader((body) => readFrame(body, "source"));
}

/** Returns a function that takes chunks of the child's output pipe and returns the complete messages. Throws for malformed frames. */
export function fromWebrtcChildReader(): (bytes: Uint8Array) => FromWebrtcChild[] {
  return frameReader((body) => readFrame(body, "peer"));
}

/** `owner`: what the number before a media frame is of. */
function readFrame<Message>(body: Buffer, owner: "source" | "peer"): Message {
  if (body[0] === JSON_FRAME) return JSON.parse(body.toString("utf8", 1));
  if (body[0] !== MEDIA_FRAME) throw new RangeError(`a frame of unknown type ${body[0]} in the WebRTC pipe`);
  return { type: "frame", [owner]: body.readUInt32BE(1), frame: readMediaFrame(body) } as Message;
}

function mediaFrame(owner: number, { kind, isIndependent, time, data }: MediaFrame): Uint8Array {
  const frame = new FrameWriter(MEDIA_FRAME, FRAME_HEADER_BYTES + data.length);
  frame.uint32(owner);
  frame.uint8((kind === "video" ? 1 : 0) | (isIndependent ? 2 : 0));
  frame.float64(time);
  return frame.end(data);
}

function readMediaFrame(body: Buffer): MediaFrame {
  const flags = body.readUInt8(5);
  return {
    kind: (flags & 1) !== 0 ? "video" : "audio",
    isIndependent: (flags & 2) !== 0,
    time: body.readDoubleBE(6),
    data: body.subarray(1 + FRAME_HEADER_BYTES),
  };
}
