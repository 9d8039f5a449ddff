import { AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, type AVPixelFormat } from "node-av/constants";
import type { EncoderName, TranscodeRung } from "./transcode-protocol.ts";

/** How one encoder is asked for live video: no frame held back, IDR pictures where they are forced and nowhere else. */
export interface EncoderSettings {
  readonly pixelFormat: AVPixelFormat;
  readonly options: Record<string, string>;
}

/** `force-cfr` because x264 holds one frame back otherwise, to learn how long it lasts. */
const X264_LIVE = [
  "rc-lookahead=0",
  "sync-lookahead=0",
  "bframes=0",
  "mbtree=0",
  "scenecut=0",
  "keyint=infinite",
  "open-gop=0",
  "force-cfr=1",
  "sliced-threads=0",
].join(":");

/** Options of FFmpeg's wrapper of the encoder, by its documentation; those of the hardware encoders are not tested on hardware. */
export function encoderSettings(encoder: EncoderName, preset: string, rung: TranscodeRung): EncoderSettings {
  const quality = rung.quality === null ? null : String(rung.quality);
  const shape: Record<string, string> = rung.level === "" ? {} : { level: rung.level };
  // Of NVENC, VAAPI and QSV "baseline" means the constrained one where it exists at all.
  if (rung.profile !== null)
    shape.profile = encoder === "h264_vaapi" && rung.profile === "baseline" ? "constrained_baseline" : rung.profile;
  switch (encoder) {
    case "libx264":
      return {
        pixelFormat: AV_PIX_FMT_YUV420P,
        options: { ...shape, preset, "forced-idr": "1", "x264-params": X264_LIVE, ...(quality && { crf: quality }) },
      };
    case "h264_nvenc":
      return {
        pixelFormat: AV_PIX_FMT_YUV420P,
        options: {
          ...shape,
          preset: "p3",
          tune: "ull",
          zerolatency: "1",
          delay: "0",
          "forced-idr": "1",
          "no-scenecut": "1",
          ...(quality ? { rc: "vbr", cq: quality } : { rc: "cbr" }),
        },
      };
    case "h264_vaapi":
      return {
        pixelFormat: AV_PIX_FMT_NV12,
        options: { ...shape, async_depth: "1", ...(quality ? { rc_mode: "QVBR" } : { rc_mode: "CBR" }) },
      };
    case "h264_qsv":
      return {
        pixelFormat: AV_PIX_FMT_NV12,
        options: { ...shape, preset: "veryfast", async_depth: "1", forced_idr: "1", look_ahead: "0" },
      };
  }
}
