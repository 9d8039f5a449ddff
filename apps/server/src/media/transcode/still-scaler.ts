import { AVCOL_RANGE_JPEG, AVCOL_RANGE_MPEG, type AVPixelFormat } from "node-av/constants";
import { Frame, SoftwareScaleContext } from "node-av/lib";
import { check } from "./ffmpeg.ts";

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** As large as fits, with square pixels, and even sides; never larger than the picture. */
export function fitted(
  { width, height, sampleAspectRatio: { num, den } }: Frame,
  { maxWidth, maxHeight }: { readonly maxWidth: number; readonly maxHeight: number },
): PictureSize {
  const shown = num > 0 && den > 0 ? (width * num) / den : width;
  const scale = Math.min(1, maxWidth / shown, maxHeight / height);
  const even = (pixels: number): number => Math.max(2, Math.round((pixels * scale) / 2) * 2);
  return { width: even(shown), height: even(height) };
}

/** The picture in this size and these pixels, in full range or the limited one of video. The caller frees it. */
export async function scaled(
  picture: Frame,
  size: PictureSize,
  pixels: AVPixelFormat,
  range: "full" | "limited" = "full",
): Promise<Frame> {
  const image = emptyFrame(size, pixels);
  if (range === "limited") image.colorRange = AVCOL_RANGE_MPEG;
  using scaler = new SoftwareScaleContext();
  scaler.allocContext();
  check(scaler.setOption("sws_flags", "area"), "cannot set up the scaler");
  check(await scaler.scaleFrame(image, picture), "cannot scale a picture");
  return image;
}

/** A frame of full range with memory of its own. */
export function emptyFrame({ width, height }: PictureSize, format: AVPixelFormat): Frame {
  const image = new Frame();
  image.alloc();
  Object.assign(image, { width, height, format });
  check(image.getBuffer(), "no memory for an image");
  image.colorRange = AVCOL_RANGE_JPEG;
  return image;
}
