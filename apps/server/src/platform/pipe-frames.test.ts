import fc from "fast-check";
import { expect, test } from "vitest";
import { FrameWriter, frameReader, frameTaker } from "./pipe-frames.ts";

const frameOf = (body: Uint8Array): Uint8Array => new FrameWriter(body[0] ?? 0, body.length - 1).end(body.subarray(1));

test("frames in pieces of any size come whole, in order, read or viewed", () => {
  const body = fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.constant(new Uint8Array(90_000).fill(7)));
  const cuts = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 70_000 })), {
    minLength: 1,
  });
  fc.assert(
    fc.property(fc.array(body, { maxLength: 12 }), cuts, (bodies, sizes) => {
      const sent = Buffer.concat(bodies.map(frameOf));
      const viewed: Buffer[] = [];
      const view = frameTaker((bytes) => viewed.push(Buffer.from(bytes)));
      const read = frameReader((bytes) => bytes);
      const whole: Buffer[] = [];
      // Lent for the call, as a socket's buffer is.
      const lent = Buffer.alloc(70_000);
      for (let at = 0, cut = 0; at < sent.length; cut++) {
        const piece = sent.subarray(at, at + (sizes[cut % sizes.length] ?? 1));
        at += piece.length;
        lent.set(piece);
        view(lent.subarray(0, piece.length));
        lent.fill(0xee, 0, piece.length);
        whole.push(...read(piece));
      }
      expect(Buffer.concat(viewed.map(frameOf)).equals(sent)).toBe(true);
      expect(Buffer.concat(whole.map(frameOf)).equals(sent)).toBe(true);
      expect(viewed.map(({ length }) => length)).toEqual(bodies.map(({ length }) => length));
    }),
    { numRuns: 200 },
  );
});

test.each([0, 1_001])("a frame of %i bytes is refused before its bytes are waited for", (bytes) => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes);
  const sentence = `a frame of ${bytes} bytes in a pipe`;
  expect(() => frameTaker(() => {}, 1_000)(head)).toThrow(sentence);
  expect(() => frameReader(() => {}, 1_000)(head)).toThrow(sentence);
  const inTwo = frameTaker(() => {}, 1_000);
  inTwo(head.subarray(0, 3));
  expect(() => inTwo(head.subarray(3))).toThrow(sentence);
});
