import { AVERROR_EAGAIN, AVERROR_EOF } from "node-av/constants";
import {
  avChannelLayoutDefault,
  avChannelLayoutDescribe,
  avGetSampleFmtName,
  type CodecContext,
  type FilterContext,
  FilterGraph,
  type Frame,
} from "node-av/lib";
import { check } from "./ffmpeg.ts";

type SampleFormat = Parameters<typeof avGetSampleFmtName>[0];

export interface AudioReshaperSettings {
  /** Takes what comes out. */
  readonly encoder: CodecContext;
  /** Units in a second of the frames' times. */
  readonly unitsPerSecond: (frame: Frame) => number;
  /** How FFmpeg's `aresample` keeps to the times: asked for each graph that is made. */
  readonly resample: () => string;
}

interface Graph {
  readonly shape: string;
  readonly graph: FilterGraph;
  readonly input: FilterContext;
  readonly output: FilterContext;
}

/** Brings decoded sound to the rate, channels and frames that an encoder takes. A source may change its shape on the way, as HE-AAC does behind its first frame. */
export class AudioReshaper {
  readonly #settings: AudioReshaperSettings;
  #graph: Graph | null = null;

  constructor(settings: AudioReshaperSettings) {
    this.#settings = settings;
  }

  /** Takes what `frame` refers to. */
  push(frame: Frame): void {
    const shape = shapeOf(frame, this.#settings.unitsPerSecond(frame));
    if (this.#graph?.shape !== shape) {
      this.#graph?.graph.free();
      this.#graph = this.#make(shape);
    }
    check(this.#graph.input.buffersrcAddFrameSync(frame), "cannot convert the sound");
    frame.unref();
  }

  /** Nothing comes any more: what is inside comes out, the last frame filled up. */
  finish(): void {
    if (this.#graph) check(this.#graph.input.buffersrcAddFrameSync(null), "cannot end the sound");
  }

  /** Fill `frame` with the next that is ready; false where none is. */
  pull(frame: Frame): boolean {
    const received = this.#graph?.output.buffersinkGetFrameSync(frame) ?? AVERROR_EOF;
    if (received === AVERROR_EAGAIN || received === AVERROR_EOF) return false;
    check(received, "cannot convert the sound");
    return true;
  }

  #make(shape: string): Graph {
    const { encoder, resample } = this.#settings;
    const graph = new FilterGraph();
    graph.alloc();
    const { sampleRate, sampleFormat, channels, frameSize } = encoder;
    const layout = channels === 1 ? "mono" : "stereo";
    const filters = [
      `abuffer@in=${shape}`,
      `aresample=${sampleRate}:${resample()}`,
      `aformat=sample_fmts=${avGetSampleFmtName(sampleFormat)}:channel_layouts=${layout}:sample_rates=${sampleRate}`,
      `asetnsamples=n=${frameSize}:p=1`,
      "abuffersink@out",
    ];
    check(graph.parse2(filters.join(",")), "cannot convert the sound");
    check(graph.configSync(), "cannot convert the sound");
    const [input, output] = [graph.getFilter("abuffer@in"), graph.getFilter("abuffersink@out")];
    if (!input || !output) throw new Error("cannot convert the sound: its graph has no ends");
    return { shape, graph, input, output };
  }
}

function shapeOf({ sampleRate, format, channelLayout, channels }: Frame, unitsPerSecond: number): string {
  const said = avChannelLayoutDescribe(channelLayout) ?? "";
  // Of sound that does not say which speaker is which, only the number is known.
  const isUnknown = said === "" || /^\d+ channels$/.test(said);
  const layout = isUnknown ? avChannelLayoutDescribe(avChannelLayoutDefault(channels)) : said;
  const samples = avGetSampleFmtName(format as SampleFormat);
  return `sample_rate=${sampleRate}:sample_fmt=${samples}:channel_layout=${layout}:time_base=1/${unitsPerSecond}`;
}
