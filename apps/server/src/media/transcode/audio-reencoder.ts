import {
  avChannelLayoutDefault,
  avChannelLayoutDescribe,
  avGetSampleFmtName,
  type CodecContext,
  type FilterContext,
  FilterGraph,
  Frame,
  Packet,
} from "node-av/lib";
import { check, isThere } from "./ffmpeg.ts";

type SampleFormat = Parameters<typeof avGetSampleFmtName>[0];

export interface AudioReencoderSettings {
  readonly encoder: CodecContext;
  /** Units in a second of the frames' times. */
  readonly unitsPerSecond: (frame: Frame) => number;
  /** How FFmpeg's `aresample` keeps to the times: asked for each graph that is made, with the samples that came out before. */
  readonly resample: (samples: number) => string;
}

/** What the encoder gives for one frame. */
export interface EncodedAudio {
  /** In samples of the encoder; before 0 it primes the decoder. */
  readonly time: number;
  readonly data: Uint8Array;
}

interface Graph {
  readonly shape: string;
  readonly graph: FilterGraph;
  readonly input: FilterContext;
  readonly output: FilterContext;
}

/**
 * Brings decoded sound to the rate, channels and frames that an encoder takes, and encodes it. A source may change its shape on the way, as HE-AAC
 * does behind its first frame. Runs inside a child only.
 */
export class AudioReencoder {
  readonly #settings: AudioReencoderSettings;
  readonly #frame = new Frame();
  readonly #packet = new Packet();
  #graph: Graph | null = null;
  #samples = 0;

  constructor(settings: AudioReencoderSettings) {
    this.#settings = settings;
    for (const each of [this.#frame, this.#packet]) each.alloc();
  }

  /** Time of the next sample that goes into the encoder. */
  get samples(): number {
    return this.#samples;
  }

  /** Takes what `frame` refers to. */
  push(frame: Frame): EncodedAudio[] {
    const shape = shapeOf(frame, this.#settings.unitsPerSecond(frame));
    if (this.#graph?.shape !== shape) {
      this.#graph?.graph.free();
      this.#graph = this.#make(shape);
    }
    check(this.#graph.input.buffersrcAddFrameSync(frame), "cannot convert the sound");
    frame.unref();
    return this.#encode(this.#graph);
  }

  /** Nothing comes any more: what is inside comes out, the last frame filled up. */
  finish(): EncodedAudio[] {
    if (!this.#graph) return [];
    check(this.#graph.input.buffersrcAddFrameSync(null), "cannot end the sound");
    const made = this.#encode(this.#graph);
    check(this.#settings.encoder.sendFrameSync(null), "cannot flush the audio encoder");
    return [...made, ...this.#encoded()];
  }

  #encode({ output }: Graph): EncodedAudio[] {
    const made: EncodedAudio[] = [];
    while (isThere(output.buffersinkGetFrameSync(this.#frame), "cannot convert the sound")) {
      this.#samples = Number(this.#frame.pts) + this.#frame.nbSamples;
      check(this.#settings.encoder.sendFrameSync(this.#frame), "cannot encode audio");
      this.#frame.unref();
      made.push(...this.#encoded());
    }
    return made;
  }

  #encoded(): EncodedAudio[] {
    const made: EncodedAudio[] = [];
    while (isThere(this.#settings.encoder.receivePacketSync(this.#packet), "cannot encode audio")) {
      made.push({ time: Number(this.#packet.pts), data: Uint8Array.from(this.#packet.data ?? []) });
      this.#packet.unref();
    }
    return made;
  }

  #make(shape: string): Graph {
    const { encoder, resample } = this.#settings;
    const graph = new FilterGraph();
    graph.alloc();
    const { sampleRate, sampleFormat, channels, frameSize } = encoder;
    const layout = channels === 1 ? "mono" : "stereo";
    const filters = [
      `abuffer@in=${shape}`,
      `aresample=${sampleRate}:${resample(this.#samples)}`,
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
