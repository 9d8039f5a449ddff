import {
  AV_CODEC_ID_MJPEG,
  AV_CODEC_ID_PNG,
  AV_PIX_FMT_RGB24,
  AV_PIX_FMT_YUVJ420P,
  AVCOL_RANGE_JPEG,
} from "node-av/constants";
import { Codec, CodecContext, Dictionary, Frame, Packet, Rational, SoftwareScaleContext } from "node-av/lib";
import { check } from "./generated-track.ts";
import { LiveDecoder } from "./live-decoder.ts";
import type { StillJob } from "./still-protocol.ts";

const FORMATS = {
  jpeg: {
    codec: AV_CODEC_ID_MJPEG,
    pixels: AV_PIX_FMT_YUVJ420P,
    options: { qmin: "3", qmax: "6", strict: "unofficial" },
  },
  png: { codec: AV_CODEC_ID_PNG, pixels: AV_PIX_FMT_RGB24, options: {} },
} as const;

/** The image of a keyframe; null where it cannot be decoded. Runs inside a child only. */
export async function makeStill(job: StillJob, keyframe: Uint8Array): Promise<Uint8Array | null> {
  const decoder = await LiveDecoder.open(job);
  let image: Uint8Array | null = null;
  const onFrame = async (picture: Frame): Promise<void> => {
    image ??= await encode(picture, job);
  };
  try {
    await decoder.decode(keyframe, 0, 0, true, onFrame);
    // A decoder that waits for what may be shown before it gives it at the end.
    if (!image) await decoder.restart(onFrame);
    return image;
  } finally {
    decoder.free();
  }
}

async function encode(picture: Frame, { maxWidth, maxHeight, format }: StillJob): Promise<Uint8Array> {
  const { codec, pixels, options } = FORMATS[format];
  using image = new Frame();
  image.alloc();
  Object.assign(image, fitted(picture, maxWidth, maxHeight), { format: pixels });
  check(image.getBuffer(), "no memory for an image");
  image.colorRange = AVCOL_RANGE_JPEG;
  using scaler = new SoftwareScaleContext();
  scaler.allocContext();
  check(scaler.setOption("sws_flags", "area"), "cannot set up the scaler");
  check(await scaler.scaleFrame(image, picture), "cannot scale a picture");

  const encoder = Codec.findEncoder(codec);
  if (!encoder) throw new Error(`this build of FFmpeg has no encoder for ${format}`);
  using context = new CodecContext();
  context.allocContext3(encoder);
  context.width = image.width;
  context.height = image.height;
  context.pixelFormat = pixels;
  context.colorRange = AVCOL_RANGE_JPEG;
  context.timeBase = new Rational(1, 1);
  context.threadCount = 1;
  check(await context.open2(encoder, Dictionary.fromObject(options)), `cannot open the encoder for ${format}`);
  check(await context.sendFrame(image), "cannot encode an image");
  check(await context.sendFrame(null), "cannot encode an image");
  using packet = new Packet();
  packet.alloc();
  check(await context.receivePacket(packet), "cannot encode an image");
  return Uint8Array.from(packet.data ?? []);
}

/** As large as fits, with square pixels, and even sides. */
function fitted({ width, height, sampleAspectRatio }: Frame, maxWidth: number, maxHeight: number) {
  const { num, den } = sampleAspectRatio;
  const shown = num > 0 && den > 0 ? (width * num) / den : width;
  const scale = Math.min(1, maxWidth / shown, maxHeight / height);
  const even = (pixels: number): number => Math.max(2, Math.round((pixels * scale) / 2) * 2);
  return { width: even(shown), height: even(height) };
}
