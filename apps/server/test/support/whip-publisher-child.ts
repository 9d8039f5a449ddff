import {
  AV_CHANNEL_LAYOUT_STEREO,
  AV_CODEC_FLAG_GLOBAL_HEADER,
  AV_SAMPLE_FMT_FLT,
  FF_ENCODER_LIBOPUS,
} from "node-av/constants";
import { Codec, CodecContext, Dictionary, FilterGraph, FormatContext, type Stream } from "node-av/lib";
import { check } from "../../src/media/transcode/ffmpeg.ts";
import { GeneratedTrack, openPicture } from "../../src/media/transcode/generated-track.ts";
import { RealTime } from "../../src/media/transcode/real-time.ts";
import { systemClock } from "../../src/platform/clock.ts";

/** FFmpeg's own WHIP muxer as a broadcaster: `node whip-publisher-child.ts URL SECONDS`. */

const [url = "", seconds = "10"] = process.argv.slice(2);
const FRAME_SAMPLES = 960;
const RATE = 48_000;

/** A tone as Opus. */
async function openOpus(): Promise<GeneratedTrack> {
  const graph = new FilterGraph();
  graph.alloc();
  const tone = `sine=frequency=440:sample_rate=${RATE}:samples_per_frame=${FRAME_SAMPLES}`;
  check(graph.parse2(`${tone},aformat=sample_fmts=flt:channel_layouts=stereo,abuffersink@out`), "no tone");
  check(graph.configSync(), "no tone");
  const source = graph.getFilter("abuffersink@out");
  const codec = Codec.findEncoderByName(FF_ENCODER_LIBOPUS);
  if (!source || !codec) throw new Error("no Opus encoder");
  const encoder = new CodecContext();
  encoder.allocContext3(codec);
  encoder.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  encoder.sampleRate = RATE;
  encoder.sampleFormat = AV_SAMPLE_FMT_FLT;
  encoder.channelLayout = AV_CHANNEL_LAYOUT_STEREO;
  encoder.bitRate = 64_000n;
  check(await encoder.open2(codec, Dictionary.fromObject({ frame_duration: "20" })), "no Opus encoder");
  return new GeneratedTrack(graph, source, encoder, FRAME_SAMPLES / RATE);
}

const picture = await openPicture({
  ...{ codec: "avc", width: 640, height: 360, frameRate: 30, gopSeconds: 1 },
  ...{ bFrames: 0, bitrateBps: 800_000, preset: "ultrafast" },
});
const tracks = [picture, await openOpus()];
const format = new FormatContext();
check(format.allocOutputContext2(null, "whip", url), "this build of FFmpeg has no WHIP muxer");
const streams = new Map<GeneratedTrack, Stream>();
for (const track of tracks) {
  const stream = format.newStream();
  check(stream.codecpar.fromContext(track.encoder), "cannot describe a track");
  stream.timeBase = track.encoder.timeBase;
  streams.set(track, stream);
}
check(await format.writeHeader(Dictionary.fromObject({})), "cannot publish");
console.log("publishing");
// Its timers do not keep the process alive.
setInterval(() => {}, 1000);
const time = new RealTime(systemClock);
const sent = new Map(tracks.map((track) => [track, 0]));
const next = (track: GeneratedTrack) => (sent.get(track) ?? 0) * track.frameSeconds;
for (;;) {
  const track = tracks.reduce((first, other) => (next(other) < next(first) ? other : first));
  if (next(track) >= Number(seconds)) break;
  await time.until(next(track) * 1000);
  sent.set(track, (sent.get(track) ?? 0) + 1);
  for (const packet of track.next()) {
    const stream = streams.get(track);
    if (!stream) continue;
    packet.streamIndex = stream.index;
    packet.rescaleTs(track.encoder.timeBase, stream.timeBase);
    check(await format.writeFrame(packet), "the connection was closed");
    packet.free();
  }
}
await format.writeTrailer();
process.exit(0);
