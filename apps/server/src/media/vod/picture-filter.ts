import {
  AV_FRAME_FLAG_INTERLACED,
  AVCOL_TRC_ARIB_STD_B67,
  AVCOL_TRC_SMPTE2084,
  AVERROR_EOF,
  type AVPixelFormat,
} from "node-av/constants";
import { avGetPixFmtName, type FilterContext, FilterGraph, Frame } from "node-av/lib";
import { TICKS_PER_SECOND } from "../packet.ts";
import { check, isThere } from "../transcode/ffmpeg.ts";
import { refusePixelFormat } from "../transcode/picture-scaler.ts";
import type { Orientation } from "./file-spec.ts";

const TURNS = { 0: [], 90: ["transpose=clock"], 180: ["hflip", "vflip"], 270: ["transpose=cclock"] } as const;
/** Converts HDR to SDR: to linear light, tone-mapped to the range of common screens, from BT.2020 to BT.709. */
const TO_SDR = [
  "zscale=t=linear:npl=100",
  "format=gbrpf32le",
  "zscale=p=bt709",
  "tonemap=tonemap=hable:desat=0",
  "zscale=t=bt709:m=bt709:r=tv",
];

/**
 * Converts decoded pictures to what the encoders expect: upright, progressive, SDR, in a pixel format that the scaler supports. Most pictures pass
 * unchanged.
 */
export class PictureFilter {
  readonly #orientation: Orientation;
  readonly #isInterlaced: boolean;
  readonly #filtered = new Frame();
  #graph: FilterGraph | null = null;
  #source: FilterContext | null = null;
  #sink: FilterContext | null = null;
  #timeBase = { num: 1, den: TICKS_PER_SECOND };
  #shape = "";

  constructor(orientation: Orientation, isInterlaced: boolean) {
    this.#orientation = orientation;
    this.#isInterlaced = isInterlaced;
    this.#filtered.alloc();
  }

  /** `onPicture` gets the filtered picture, immediately or with the next call. */
  async take(
    picture: Frame,
    ticks: number,
    onPicture: (picture: Frame, ticks: number) => Promise<void>,
  ): Promise<void> {
    const filters = this.#filtersFor(picture);
    picture.clearFlags(...(this.#isInterlaced ? [] : [AV_FRAME_FLAG_INTERLACED]));
    if (filters.length === 0) return onPicture(picture, ticks);
    this.#follow(picture, filters);
    picture.pts = BigInt(ticks);
    check((await this.#source?.buffersrcAddFrame(picture)) ?? 0, "cannot convert a picture");
    await this.#receive(onPicture);
  }

  async finish(onPicture: (picture: Frame, ticks: number) => Promise<void>): Promise<void> {
    if (!this.#source) return;
    check(await this.#source.buffersrcAddFrame(null), "cannot convert a picture");
    await this.#receive(onPicture);
  }

  free(): void {
    this.#graph?.free();
    this.#filtered.free();
  }

  #filtersFor({ format, colorTrc }: Frame): string[] {
    const isHdr = colorTrc === AVCOL_TRC_SMPTE2084 || colorTrc === AVCOL_TRC_ARIB_STD_B67;
    const filters = [
      ...(this.#isInterlaced ? ["bwdif=mode=send_frame:deint=interlaced"] : []),
      ...TURNS[this.#orientation.turn],
      ...(this.#orientation.isMirrored ? ["hflip"] : []),
      ...(isHdr ? TO_SDR : []),
    ];
    return filters.length > 0 || refusePixelFormat(format) ? [...filters, "format=yuv420p"] : [];
  }

  #follow({ width, height, format, colorSpace, colorRange }: Frame, filters: readonly string[]): void {
    const pixels = avGetPixFmtName(format as AVPixelFormat);
    const size = `video_size=${width}x${height}:pix_fmt=${pixels}:time_base=1/${TICKS_PER_SECOND}:pixel_aspect=1/1`;
    const shape = `${size}:colorspace=${colorSpace}:range=${colorRange}`;
    if (shape === this.#shape) return;
    this.#graph?.free();
    const graph = new FilterGraph();
    graph.alloc();
    check(
      graph.parse2([`buffer@in=${shape}`, ...filters, "buffersink@out"].join(",")),
      "cannot configure the picture filter",
    );
    check(graph.configSync(), "cannot configure the picture filter");
    this.#source = graph.getFilter("buffer@in");
    this.#sink = graph.getFilter("buffersink@out");
    if (this.#sink) this.#timeBase = this.#sink.buffersinkGetTimeBase();
    this.#graph = graph;
    this.#shape = shape;
  }

  async #receive(onPicture: (picture: Frame, ticks: number) => Promise<void>): Promise<void> {
    const received = async () => (await this.#sink?.buffersinkGetFrame(this.#filtered)) ?? AVERROR_EOF;
    while (isThere(await received(), "cannot convert a picture")) {
      this.#filtered.clearFlags(AV_FRAME_FLAG_INTERLACED);
      // A filter may use a finer time base: the deinterlacer counts in fields.
      const { num, den } = this.#timeBase;
      await onPicture(this.#filtered, Math.round((Number(this.#filtered.pts) * num * TICKS_PER_SECOND) / den));
      this.#filtered.unref();
    }
  }
}
