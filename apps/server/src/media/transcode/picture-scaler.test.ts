import {
  AV_PIX_FMT_YUV420P,
  AVCHROMA_LOC_CENTER,
  AVCHROMA_LOC_LEFT,
  AVCHROMA_LOC_UNSPECIFIED,
  type AVChromaLocation,
} from "node-av/constants";
import { Frame } from "node-av/lib";
import { expect, test } from "vitest";
import { PictureScaler } from "./picture-scaler.ts";

// Chroma samples 319 and 320 of 640 have the edge between them. A sample at the left stands at the first of its two luma samples, one in the centre half a
// luma sample further right; the scaled picture is to have its samples at the left. Pictures without a location stay as they are.
test.each([
  ["at the left", AVCHROMA_LOC_LEFT, 159.875],
  ["in the centre", AVCHROMA_LOC_CENTER, 159.75],
  ["at an unknown place", AVCHROMA_LOC_UNSPECIFIED, 160],
])("colours of a picture with chroma samples %s stay where they are when it is scaled", (_place, location, right) => {
  const source = pictureWithEdge(location);
  const target = new Frame();
  target.alloc();
  new PictureScaler(640, 360, AV_PIX_FMT_YUV420P).scale(source, target);
  const [, chroma] = target.data ?? [];
  const row = [...(chroma?.subarray(0, 320) ?? [])];
  expect(row.reduce((samples, value) => samples + (value - BLUE_BEFORE) / (BLUE_BEHIND - BLUE_BEFORE), 0)).toBeCloseTo(
    right,
    1,
  );
});

const BLUE_BEFORE = 50;
const BLUE_BEHIND = 200;

function pictureWithEdge(location: AVChromaLocation): Frame {
  const frame = new Frame();
  frame.alloc();
  Object.assign(frame, { width: 1280, height: 720, format: AV_PIX_FMT_YUV420P });
  frame.getBuffer();
  frame.chromaLocation = location;
  const [luma, blue, red] = frame.data ?? [];
  const [, stride = 0] = frame.linesize;
  luma?.fill(128);
  red?.fill(128);
  for (let y = 0; y < 360; y++)
    for (let x = 0; x < 640; x++) blue?.fill(x < 320 ? BLUE_BEFORE : BLUE_BEHIND, y * stride + x, y * stride + x + 1);
  return frame;
}
