import {
  AV_PIX_FMT_RGB24,
  AV_PIX_FMT_YUVJ420P,
  AVCOL_RANGE_JPEG,
  FF_ENCODER_MJPEG,
  FF_ENCODER_PNG,
} from "node-av/constants";
import { type Frame, Packet, Rational } from "node-av/lib";
import { check, openEncoder } from "./ffmpeg.ts";
import { LiveDecoder } from "./live-decoder.ts";
import { blackPicture, paste, planarBytes } from "./planar-picture.ts";
import { emptyFrame, fitted, scaled } from "./still-scaler.ts";
import type { SheetJob, StillFormat, StillJob } from "./transcode-protocol.ts";

const FORMATS = {
  jpeg: {
    encoder: FF_ENCODER_MJPEG,
    pixels: AV_PIX_FMT_YUVJ420P,
    options: { qmin: "3", qmax: "6", strict: "unofficial" },
  },
  png: { encoder: FF_ENCODER_PNG, pixels: AV_PIX_FMT_RGB24, options: {} },
} as const;

/** Pictures up to this width are decoded without the deblocking filter: scaling down hides its absence, and the filter takes a good part of the decoding. */
const MAX_DRAFT_WIDTH = 640;

/** What is made of a keyframe, see `StillJob.format`; null where it cannot be decoded. Runs inside a child only. */
export async function makeStill(job: StillJob, keyframe: Uint8Array): Promise<Uint8Array | null> {
  // A second thread would cost a fifth more CPU for one picture, to be started and waited for.
  const decoder = await LiveDecoder.open(job, { threads: 1, isDeblocked: job.maxWidth > MAX_DRAFT_WIDTH });
  let made: Uint8Array | null = null;
  const onFrame = async (picture: Frame): Promise<void> => {
    made ??= await (job.format === "tile" ? tileOf(picture, job) : imageOf(picture, job, job.format));
  };
  try {
    await decoder.decode(keyframe, 0, 0, true, onFrame);
    // A decoder that waits for what may be shown before it gives it at the end.
    if (!made) await decoder.restart(onFrame);
    return made;
  } finally {
    decoder.free();
  }
}

/** One JPEG of tiles, one behind the other in `tiles`. Runs inside a child only. */
export async function makeSheet(
  { columns, tileWidth, tileHeight }: SheetJob,
  tiles: Uint8Array,
): Promise<Uint8Array | null> {
  const tileBytes = planarBytes(tileWidth, tileHeight);
  const count = Math.floor(tiles.byteLength / tileBytes);
  if (count === 0) return null;
  const across = Math.min(columns, count);
  const sheet = blackPicture(across * tileWidth, Math.ceil(count / across) * tileHeight);
  for (let nth = 0; nth < count; nth++) {
    const bytes = tiles.subarray(nth * tileBytes, (nth + 1) * tileBytes);
    const [column, row] = [nth % across, Math.floor(nth / across)];
    paste({ width: tileWidth, height: tileHeight, bytes }, sheet, column * tileWidth, row * tileHeight);
  }
  using image = emptyFrame(sheet, AV_PIX_FMT_YUVJ420P);
  check(image.fromBuffer(Buffer.from(sheet.bytes.buffer)), "cannot read a sheet of tiles");
  return await encode(image, "jpeg");
}

async function imageOf(picture: Frame, job: StillJob, format: StillFormat): Promise<Uint8Array> {
  using image = await scaled(picture, fitted(picture, job), FORMATS[format].pixels);
  return await encode(image, format);
}

async function tileOf(picture: Frame, job: StillJob): Promise<Uint8Array> {
  using image = await scaled(picture, fitted(picture, job), AV_PIX_FMT_YUVJ420P);
  const { width, height } = image;
  const tile = blackPicture(job.maxWidth, job.maxHeight);
  paste({ width, height, bytes: image.toBuffer() }, tile, middle(job.maxWidth - width), middle(job.maxHeight - height));
  return tile.bytes;
}

async function encode(image: Frame, format: StillFormat): Promise<Uint8Array> {
  const { encoder, pixels, options } = FORMATS[format];
  const { width, height } = image;
  using context = await openEncoder(encoder, options, (made) => {
    Object.assign(made, { width, height, pixelFormat: pixels, colorRange: AVCOL_RANGE_JPEG });
    made.timeBase = new Rational(1, 1);
  });
  check(await context.sendFrame(image), "cannot encode an image");
  check(await context.sendFrame(null), "cannot encode an image");
  using packet = new Packet();
  packet.alloc();
  check(await context.receivePacket(packet), "cannot encode an image");
  return Uint8Array.from(packet.data ?? []);
}

/** Half of what is left over, and even. */
const middle = (left: number): number => Math.floor(left / 4) * 2;
