import { expect, it } from "vitest";
import {
  type FromWebrtcChild,
  frameFromWebrtcChild,
  frameToWebrtcChild,
  fromWebrtcChildReader,
  type ToWebrtcChild,
  toWebrtcChildReader,
} from "./webrtc-protocol.ts";

const plan = {
  video: { mid: "0", payloadType: 96, parameters: "packetization-mode=1", supportsNack: true },
  audio: null,
  unused: [{ kind: "audio", mid: "1", payloadType: 0 }],
} as const;
const frame = { kind: "video", isIndependent: true, time: 2 ** 33 + 0.5, data: Buffer.from([1, 2, 3]) } as const;
const sound = { kind: "audio", isIndependent: false, time: -585, data: Buffer.alloc(0) } as const;

const TO_CHILD: readonly ToWebrtcChild[] = [
  { type: "start", start: { port: 8189, bindAddress: null } },
  { type: "watch", peer: 1, source: 2, offer: "v=0\r\n", plan },
  { type: "publish", peer: 3, offer: "v=0 ä", plan },
  { type: "frame", source: 2, frame },
  { type: "frame", source: 4_000_000_000, frame: sound },
  { type: "show", peer: 1, source: 5, isKeyframesOnly: true, stopsBefore: true },
  { type: "close", peer: 1 },
  { type: "end-source", source: 2 },
];

const FROM_CHILD: readonly FromWebrtcChild[] = [
  { type: "answer", peer: 1, sdp: "v=0\r\n" },
  { type: "connected", peer: 1 },
  { type: "frame", peer: 3, frame },
  {
    type: "reports",
    reports: [{ peer: 1, fractionLost: 0.1, roundTripMs: null, retransmits: 2, availableBps: 3e6 }],
  },
  { type: "closed", peer: 1, reason: "gone" },
];

it("messages arrive complete, however the pipe splits them", () => {
  for (const size of [1, 7, 10_000]) {
    const pieces = (frames: readonly Uint8Array[]) => {
      const bytes = Buffer.concat(frames);
      return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
    };
    const toChild = toWebrtcChildReader();
    const fromChild = fromWebrtcChildReader();
    expect(pieces(TO_CHILD.map(frameToWebrtcChild)).flatMap((bytes) => toChild(bytes))).toEqual(TO_CHILD);
    expect(pieces(FROM_CHILD.map(frameFromWebrtcChild)).flatMap((bytes) => fromChild(bytes))).toEqual(FROM_CHILD);
  }
});

it("a frame of unknown type is rejected", () => {
  expect(() => fromWebrtcChildReader()(Uint8Array.of(0, 0, 0, 2, 3, 2))).toThrow(RangeError);
  expect(() => toWebrtcChildReader()(Uint8Array.of(0, 0, 0, 2, 66, 2))).toThrow(RangeError);
});
