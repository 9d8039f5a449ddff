import type { Offer } from "@weir/formats/sdp";
import { FrameWriter, frameReader, jsonFrame } from "../../platform/pipe-frames.ts";

/**
 * What the WebRTC child and its parent say to each other: frames over two pipes, file descriptor 3 into the child and 4 out of it. The parent numbers
 * peers and sources. A peer ends with `close` from the parent or `closed` from the child, and its number is not used again.
 */

/** The reason for closing a viewer that makes the server send without end. */
export const ASKS_TOO_MUCH = "it asked for more packets again than any player needs";

/** How much of the offer the child needs: which sections to answer, with which codec. */
export type PeerPlan = Pick<Offer, "video" | "audio" | "unused">;

export interface WebrtcStart {
  /** UDP, one for all peers. */
  readonly port: number;
  /** Null binds to all addresses. */
  readonly bindAddress: string | null;
}

export interface PeerOffer {
  readonly peer: number;
  readonly offer: string;
  readonly plan: PeerPlan;
}

/** One picture, its NAL units behind 4-byte lengths and an IDR's parameter sets in front of it; or one Opus packet. */
export interface MediaFrame {
  readonly kind: "video" | "audio";
  readonly isIndependent: boolean;
  /** 90 kHz ticks, of one clock for audio and video. */
  readonly time: number;
  readonly data: Uint8Array;
}

export interface ShownHow {
  /** Keyframes alone of it. */
  readonly isKeyframesOnly: boolean;
  /** The pictures of the source before it stop at once: the viewer's network does not carry them. Else they go on until then. */
  readonly stopsBefore: boolean;
}

/** How well the media of a viewer or a publisher gets through. */
export interface PeerReport {
  readonly peer: number;
  /** Of its video packets since its last report: from 0 to 1. */
  readonly fractionLost: number;
  /** Null before it is known, and where the other side does not tell. */
  readonly roundTripMs: number | null;
  /** Packets that were asked for again, since it came. */
  readonly retransmits: number;
  /** The rate that a viewer thinks its network carries (REMB), the lowest since its last report; null where it does not say. */
  readonly availableBps: number | null;
}

/** Parent to child. */
export type ToWebrtcChild =
  | { readonly type: "start"; readonly start: WebrtcStart }
  /** The peer gets what comes for `source`. */
  | ({ readonly type: "watch"; readonly source: number } & PeerOffer)
  | ({ readonly type: "publish" } & PeerOffer)
  /** A viewer gets this source from its next keyframe on, or keyframes alone of it. */
  | ({ readonly type: "show"; readonly peer: number; readonly source: number } & ShownHow)
  | { readonly type: "close"; readonly peer: number }
  /** For all who watch the source. */
  | { readonly type: "frame"; readonly source: number; readonly frame: MediaFrame }
  /** Nothing more comes for it; who watches it was closed before. */
  | { readonly type: "end-source"; readonly source: number };

/** Child to parent. */
export type FromWebrtcChild =
  | { readonly type: "answer"; readonly peer: number; readonly sdp: string }
  | { readonly type: "connected"; readonly peer: number }
  | { readonly type: "closed"; readonly peer: number; readonly reason: string }
  /** The frames that a publisher sends. */
  | { readonly type: "frame"; readonly peer: number; readonly frame: MediaFrame }
  /** Once a second, of those of whom something is known since the last time. */
  | { readonly type: "reports"; readonly reports: readonly PeerReport[] };

const TO_CHILD = { start: 1, watch: 2, publish: 3, close: 4, frame: 5, "end-source": 6, show: 7 } as const;
const FROM_CHILD = { answer: 65, connected: 66, closed: 67, frame: 68, reports: 69 } as const;

const FRAME_HEADER_BYTES = 13;

/** The frame of one message, in a buffer of its own. */
export function frameToWebrtcChild(message: ToWebrtcChild): Uint8Array {
  const type = TO_CHILD[message.type];
  switch (message.type) {
    case "frame":
      return mediaFrame(type, message.source, message.frame);
    case "start":
      return jsonFrame(type, message.start);
    case "watch":
    case "publish":
    case "show":
    case "close":
    case "end-source":
      return jsonFrame(type, message);
  }
}

/** The frame of one message, in a buffer of its own. */
export function frameFromWebrtcChild(message: FromWebrtcChild): Uint8Array {
  const type = FROM_CHILD[message.type];
  return message.type === "frame" ? mediaFrame(type, message.peer, message.frame) : jsonFrame(type, message);
}

/** Takes what the child's input pipe brings, in pieces of any size, and returns the whole messages in it. Throws on bytes that are no frame. */
export function toWebrtcChildReader(): (bytes: Uint8Array) => ToWebrtcChild[] {
  return frameReader((body) => {
    if (body[0] === TO_CHILD.frame) return { type: "frame", source: body.readUInt32BE(1), frame: readMediaFrame(body) };
    if (body[0] === TO_CHILD.start) return { type: "start", start: JSON.parse(body.toString("utf8", 1)) };
    return readJson(body, [TO_CHILD.watch, TO_CHILD.publish, TO_CHILD.show, TO_CHILD.close, TO_CHILD["end-source"]]);
  });
}

/** Takes what the child's output pipe brings, in pieces of any size, and returns the whole messages in it. Throws on bytes that are no frame. */
export function fromWebrtcChildReader(): (bytes: Uint8Array) => FromWebrtcChild[] {
  return frameReader((body) => {
    if (body[0] === FROM_CHILD.frame) return { type: "frame", peer: body.readUInt32BE(1), frame: readMediaFrame(body) };
    return readJson(body, [FROM_CHILD.answer, FROM_CHILD.connected, FROM_CHILD.closed, FROM_CHILD.reports]);
  });
}

function readJson<Message>(body: Buffer, types: readonly number[]): Message {
  if (!types.includes(body[0] ?? 0)) throw new RangeError(`a frame of unknown type ${body[0]} in the WebRTC pipe`);
  return JSON.parse(body.toString("utf8", 1));
}

function mediaFrame(type: number, owner: number, { kind, isIndependent, time, data }: MediaFrame): Uint8Array {
  const frame = new FrameWriter(type, FRAME_HEADER_BYTES + data.length);
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
