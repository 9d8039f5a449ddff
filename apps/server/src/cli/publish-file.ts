import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  AV_CODEC_ID_AAC,
  AV_CODEC_ID_H264,
  AV_LOG_QUIET,
  AVERROR_EOF,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
} from "node-av/constants";
import { avGetCodecName, Dictionary, FFmpegError, FormatContext, Log, Packet, type Stream } from "node-av/lib";
import { CliError } from "./exit-codes.ts";

// FFmpeg prints the addresses it is given, and those have stream keys in them.
Log.setLevel(AV_LOG_QUIET);

export interface FileBroadcast {
  readonly file: string;
  /** RTMP address with the stream key. */
  readonly url: string;
  /** The same without the key, for messages. */
  readonly shownUrl: string;
  /** Stop after so long; undefined for the whole file. */
  readonly seconds?: number | undefined;
  readonly loop: boolean;
  /** Ends the broadcast the way a person does who presses stop. */
  readonly signal: AbortSignal;
  readonly onLive: () => void;
  /** From 0 to 1; not called for a file that is repeated without end. */
  readonly onProgress: (fraction: number) => void;
}

/** RTMP carries others as well, but every player plays these. */
const CARRIED = new Map([
  [AVMEDIA_TYPE_VIDEO, AV_CODEC_ID_H264],
  [AVMEDIA_TYPE_AUDIO, AV_CODEC_ID_AAC],
]);
const MICROSECONDS = { num: 1, den: 1_000_000 };

interface Track {
  readonly source: Stream;
  readonly sent: Stream;
}

/** Send the packets of a file in real time, as they are. Resolves with the seconds that were sent. Throws `CliError`. */
export async function publishFile(broadcast: FileBroadcast): Promise<number> {
  const { file, url, shownUrl, signal, onLive, onProgress } = broadcast;
  let input = await openFile(file);
  const lengthSeconds = Number(input.duration) / MICROSECONDS.den;
  const wantedSeconds = broadcast.seconds ?? (broadcast.loop ? Number.POSITIVE_INFINITY : lengthSeconds);
  const output = new FormatContext();
  check(output.allocOutputContext2(null, "flv", url), "cannot make the FLV muxer");
  const tracks = tracksOf(input, output, file);
  check(await output.openOutput(), `cannot publish to ${shownUrl}: no server, or it refuses the stream key`);
  check(
    await output.writeHeader(Dictionary.fromObject({ flvflags: "no_duration_filesize" })),
    "cannot begin to publish",
  );
  onLive();

  const startedAt = performance.now();
  let shiftUs = 0n;
  let endUs = 0n;
  for (;;) {
    const packet = new Packet();
    packet.alloc();
    const result = await input.readFrame(packet);
    if (result === AVERROR_EOF && broadcast.loop) {
      await input.closeInput();
      input = await openFile(file);
      shiftUs = endUs;
      continue;
    }
    const track = tracks.get(packet.streamIndex);
    if (result < 0 || signal.aborted || Number(endUs) / MICROSECONDS.den >= wantedSeconds) break;
    if (!track) {
      packet.free();
      continue;
    }
    packet.rescaleTs(track.source.timeBase, MICROSECONDS);
    packet.dts += shiftUs;
    packet.pts += shiftUs;
    const at = packet.dts;
    endUs = at + packet.duration > endUs ? at + packet.duration : endUs;
    await sleep(startedAt + Number(at) / 1_000 - performance.now(), undefined, { signal }).catch(() => {});
    packet.streamIndex = track.sent.index;
    packet.rescaleTs(MICROSECONDS, track.sent.timeBase);
    check(await output.writeFrame(packet), "the server ended the broadcast");
    packet.free();
    onProgress(Number(endUs) / MICROSECONDS.den / wantedSeconds);
  }
  await input.closeInput();
  await output.writeTrailer();
  await output.closeOutput();
  return Number(endUs) / MICROSECONDS.den;
}

async function openFile(file: string): Promise<FormatContext> {
  if (!existsSync(file)) throw new CliError(`there is no file ${file}`);
  const input = new FormatContext();
  check(await input.openInput(file), `cannot read ${file} as a video`);
  check(await input.findStreamInfo(), `cannot read ${file} as a video`);
  return input;
}

/** Of several, the first of each kind. Throws for a codec that would have to be converted. */
function tracksOf(input: FormatContext, output: FormatContext, file: string): Map<number, Track> {
  const tracks = new Map<number, Track>();
  for (const [kind, codec] of CARRIED) {
    const source = input.streams.find(({ codecpar }) => codecpar.codecType === kind);
    if (!source) continue;
    if (source.codecpar.codecId !== codec) {
      const remedy = "convert it first: ffmpeg -i input -c:v libx264 -pix_fmt yuv420p -g 60 -c:a aac output.mp4";
      throw new CliError(
        `${file} has ${avGetCodecName(source.codecpar.codecId)}, and a broadcast needs H.264 and AAC; ${remedy}`,
      );
    }
    const sent = output.newStream();
    check(source.codecpar.copy(sent.codecpar), "cannot describe a track");
    // FLV has tags of its own for codecs.
    sent.codecpar.codecTag = 0;
    sent.timeBase = source.timeBase;
    tracks.set(source.index, { source, sent });
  }
  if (tracks.size === 0) throw new CliError(`${file} has neither video nor sound`);
  return tracks;
}

function check(result: number, doing: string): void {
  if (result < 0) throw new CliError(`${doing} (${new FFmpegError(result).message})`);
}
