import { expect, it } from "vitest";
import { lengthPrefixed } from "../codecs/index.ts";
import { H264Depacketizer, h264Payloads, type RtpPicture } from "./index.ts";

const unit = (type: number, bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, n) => (n === 0 ? 0x60 | type : (n * 7) & 0xff));

it.each([
  ["small units", [unit(7, 20), unit(8, 5), unit(5, 900)]],
  ["a unit of the largest size", [unit(5, 1000)]],
  ["units one byte above it, and far above it", [unit(5, 1001), unit(5, 10_000)]],
  ["a unit that fills its fragments exactly", [unit(1, 1 + 2 * 998)]],
])("a picture of %s is the same after its packets are put together", (_what, units) => {
  const picture = lengthPrefixed(units);
  const payloads = h264Payloads(picture, 1000);
  const pictures: RtpPicture[] = [];
  const depacketizer = new H264Depacketizer((made) => pictures.push(made));
  for (const [sequence, { head, body, isLast: marker }] of payloads.entries()) {
    expect(head.length + body.length).toBeLessThanOrEqual(1000);
    const payload = new Uint8Array([...head, ...body]);
    depacketizer.push({ marker, payloadType: 96, sequence, timestamp: 9, ssrc: 1, payload }, false);
  }
  expect(payloads.filter(({ isLast }) => isLast)).toHaveLength(1);
  expect(pictures).toEqual([{ timestamp: 9, data: picture, isDamaged: false }]);
});

it("lengths that lead out of the picture end with it", () => {
  const bytes = Uint8Array.of(0, 0, 0, 200, 0x65, 1, 2);
  expect(h264Payloads(bytes, 1000).map(({ body }) => body)).toEqual([bytes.subarray(4)]);
  expect(h264Payloads(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0), 1000)).toEqual([]);
});
