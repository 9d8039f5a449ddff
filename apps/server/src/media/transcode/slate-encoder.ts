import {
  type AvcHost,
  annexBToLengthPrefixed,
  avcColours,
  avcHost,
  avcTransplant,
  describeAvc,
} from "@weir/formats/codecs";
import {
  AV_CODEC_ID_MJPEG,
  AV_CODEC_ID_PNG,
  AV_PIX_FMT_YUV420P,
  AVCOL_RANGE_JPEG,
  AVCOL_RANGE_MPEG,
  AVCOL_SPC_BT709,
  AVCOL_SPC_SMPTE170M,
  type AVColorSpace,
  FF_ENCODER_LIBX264,
} from "node-av/constants";
import { Codec, CodecContext, Dictionary, Frame, Packet, Rational, SoftwareScaleContext } from "node-av/lib";
import { check, decoderConfig, openEncoder } from "./ffmpeg.ts";
import { LiveDecoder } from "./live-decoder.ts";
import { type PlanarPicture, paste, planarBytes } from "./planar-picture.ts";

/** Of a customer's image, before it is decoded: 4096 by 4096. */
const MAX_PIXELS = 4_096 ** 2;
/** The first bytes of a PNG. All else is read as a JPEG. */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);
/** The first with which the picture is small enough is taken. */
const QUANTISERS = [20, 26, 32, 38, 44] as const;
/** There is a keyframe every two seconds, so a second has half as many: less than of nearly every video. */
const MAX_BITS_PER_PIXEL = 1;
/** Mean difference of luma between the picture and what a decoder makes of it. No quantiser above costs as much, and a wrong picture differs by more. */
const MAX_DIFFERENCE = 12;
/** Of video whose size alone tells its colours. */
const HD_HEIGHT = 720;

/** A picture and the size that its rendition has. */
type SlatePicture = PlanarPicture & { readonly space: AVColorSpace; readonly isFullRange: boolean };

/**
 * A PNG or JPEG as a keyframe for the parameter sets that a rendition has already: NAL units with 4-byte lengths. Null where `config`, its `avcC`, takes no
 * such picture, or the image cannot be read. What is returned has been decoded once. Runs inside a child only.
 */
export async function makeSlate(config: Uint8Array, image: Uint8Array): Promise<Uint8Array | null> {
  const host = avcHost(config);
  if (!host) return null;
  const picture = await fittedPicture(config, image);
  for (const quantiser of QUANTISERS) {
    const keyframe = avcTransplant(await encode(picture, host, quantiser), config);
    if (!keyframe) return null;
    if (keyframe.byteLength * 8 > picture.width * picture.height * MAX_BITS_PER_PIXEL) continue;
    return (await isShown(picture, config, keyframe)) ? keyframe : null;
  }
  return null;
}

/** The image as large as fits into the pictures of a rendition, in the middle of black. */
async function fittedPicture(config: Uint8Array, image: Uint8Array): Promise<SlatePicture> {
  using decoded = await decodeImage(image);
  const { width, height, sampleAspect } = describeAvc(config);
  const { matrix, isFullRange } = avcColours(config);
  const assumed = Math.min(width, height) >= HD_HEIGHT ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M;
  const bytes = new Uint8Array(planarBytes(width, height)).fill(128).fill(isFullRange ? 0 : 16, 0, width * height);
  const picture = { width, height, bytes, space: (matrix ?? assumed) as AVColorSpace, isFullRange };
  // The pictures of the rendition are shown this much wider than they are stored.
  const stretch = sampleAspect ? sampleAspect[0] / sampleAspect[1] : 1;
  const scale = Math.min((width * stretch) / decoded.width, height / decoded.height);
  const even = (pixels: number, most: number) => Math.max(2, Math.min(most, Math.round(pixels / 2) * 2));
  const size = {
    width: even((decoded.width * scale) / stretch, width),
    height: even(decoded.height * scale, height),
  };
  const middle = (left: number) => Math.floor(left / 4) * 2;
  const fitted = { ...size, bytes: await scaledBytes(decoded, size, picture) };
  paste(fitted, picture, middle(width - size.width), middle(height - size.height));
  return picture;
}

/** The first picture of a PNG or JPEG file. */
async function decodeImage(image: Uint8Array): Promise<Frame> {
  const codec = Codec.findDecoder(PNG.equals(image.subarray(0, PNG.length)) ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG);
  using context = new CodecContext();
  context.allocContext3(codec);
  context.threadCount = 1;
  const options = Dictionary.fromObject({ max_pixels: String(MAX_PIXELS) });
  check(await context.open2(codec, options), "cannot open the decoder of an image");
  using packet = new Packet();
  packet.alloc();
  packet.data = Buffer.from(image);
  packet.isKeyframe = true;
  check(await context.sendPacket(packet), "cannot decode an image");
  await context.sendPacket(null);
  const frame = new Frame();
  frame.alloc();
  check(await context.receiveFrame(frame), "cannot decode an image");
  return frame;
}

async function scaledBytes(
  decoded: Frame,
  size: { readonly width: number; readonly height: number },
  { space, isFullRange }: SlatePicture,
): Promise<Uint8Array> {
  using target = new Frame();
  target.alloc();
  Object.assign(target, { ...size, format: AV_PIX_FMT_YUV420P });
  check(target.getBuffer(), "no memory for an image");
  target.colorRange = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  target.colorSpace = space;
  using scaler = new SoftwareScaleContext();
  scaler.allocContext();
  check(scaler.setOption("sws_flags", "bicubic"), "cannot set up the scaler");
  check(await scaler.scaleFrame(target, decoded), "cannot scale an image");
  return target.toBuffer();
}

/** One slice. The fastest preset alone has nothing but macroblocks of Intra_16x16. */
async function encode({ width, height, bytes }: SlatePicture, { isCabac, chromaQpOffset }: AvcHost, qp: number) {
  const params = [
    ...["no-deblock=0", "psy=0", "slices=1", "ref=1", "bframes=0", "rc-lookahead=0", "keyint=1"],
    ...[`cabac=${Number(isCabac)}`, `chroma-qp-offset=${chromaQpOffset}`, `qp=${qp}`],
  ];
  const options = { preset: "ultrafast", "x264-params": params.join(":") };
  using context = await openEncoder(FF_ENCODER_LIBX264, options, (made) => {
    Object.assign(made, { width, height, pixelFormat: AV_PIX_FMT_YUV420P });
    made.timeBase = new Rational(1, 1);
  });
  using frame = new Frame();
  frame.alloc();
  Object.assign(frame, { width, height, format: AV_PIX_FMT_YUV420P });
  check(frame.getBuffer(), "no memory for a slate");
  check(frame.fromBuffer(Buffer.from(bytes)), "cannot read a slate");
  frame.pts = 0n;
  check(await context.sendFrame(frame), "cannot encode a slate");
  check(await context.sendFrame(null), "cannot encode a slate");
  using packet = new Packet();
  packet.alloc();
  check(await context.receivePacket(packet), "cannot encode a slate");
  return { config: decoderConfig(context), keyframe: annexBToLengthPrefixed(packet.data ?? new Uint8Array()) };
}

/** Whether a decoder with the rendition's configuration shows it. */
async function isShown(picture: SlatePicture, config: Uint8Array, keyframe: Uint8Array): Promise<boolean> {
  const decoder = await LiveDecoder.open({ codec: "avc", config: Buffer.from(config).toString("base64") });
  let difference = Number.POSITIVE_INFINITY;
  const onFrame = async (frame: Frame): Promise<void> => {
    if (frame.width !== picture.width || frame.height !== picture.height) return;
    const shown = frame.toBuffer();
    const luma = picture.width * picture.height;
    let sum = 0;
    for (let at = 0; at < luma; at++) sum += Math.abs((shown[at] ?? 0) - (picture.bytes[at] ?? 0));
    difference = sum / luma;
  };
  try {
    await decoder.decode(keyframe, 0, 0, true, onFrame);
    await decoder.restart(onFrame);
  } finally {
    decoder.free();
  }
  return difference <= MAX_DIFFERENCE;
}
