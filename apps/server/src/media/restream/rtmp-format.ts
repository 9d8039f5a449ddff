import { AAC_CONFIG_HEAD, AAC_FRAME_HEAD, videoConfigHead, videoFrameHead } from "@weir/formats/flv";
import {
  type AmfObject,
  CLIENT_CHUNK_SIZE,
  chunkedBytes,
  MESSAGE,
  metadataPayload,
  putMessage,
} from "@weir/formats/rtmp";
import { TICKS_PER_SECOND, type VideoTrack } from "../packet.ts";
import type { LineFormat, LineFrame, LineTracks } from "./line-format.ts";
import type { LinePages } from "./line-pages.ts";

const TICKS_PER_MS = TICKS_PER_SECOND / 1000;
const DATA = { chunkStreamId: 4, typeId: MESSAGE.dataAmf0 };
const AUDIO = { chunkStreamId: 5, typeId: MESSAGE.audio };
const VIDEO = { chunkStreamId: 6, typeId: MESSAGE.video };
const NOTHING = new Uint8Array(0);
const FLV_CODECS = { avc: 7, hevc: fourCc("hvc1"), av1: fourCc("av01") };
const FLV_AAC = 10;

/**
 * RTMP messages in chunks. Each message has a full header with the timeline's timestamp, so the same bytes serve every target with the same message
 * stream id, whenever it joined.
 */
export class RtmpFormat implements LineFormat {
  /** Platforms buffer for seconds, so this delay does not matter. */
  readonly batchMs = 200;
  readonly #streamId: number;
  #codec: VideoTrack["codec"] = "avc";
  /** The messages that precede the first frame of a target. */
  #setup: readonly Message[] = [];

  constructor(streamId: number) {
    this.#streamId = streamId;
  }

  begin(tracks: LineTracks): string | null {
    const { video, audio } = tracks;
    const setup: Message[] = [{ ...DATA, head: NOTHING, body: metadataPayload(metadataOf(tracks)) }];
    if (video) setup.push({ ...VIDEO, head: videoConfigHead(video.codec), body: video.config });
    if (audio) setup.push({ ...AUDIO, head: AAC_CONFIG_HEAD, body: audio.config });
    this.#setup = setup;
    this.#codec = video?.codec ?? "avc";
    return null;
  }

  opening(ticks: number): Uint8Array {
    const timestamp = msOf(ticks);
    const sizes = this.#setup.map(({ head, body }) => sizeOf(timestamp, head, body));
    const out = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
    let at = 0;
    for (const { head, body, ...ids } of this.#setup) {
      const header = { ...ids, timestamp, streamId: this.#streamId };
      at = putMessage(out, at, header, head, body, CLIENT_CHUNK_SIZE);
    }
    return out;
  }

  write(pages: LinePages, { kind, decodeTicks, presentationTicks, isIndependent, data }: LineFrame): void {
    const timestamp = msOf(decodeTicks);
    const compositionTime = msOf(presentationTicks) - timestamp;
    const frame = { codec: this.#codec, isKeyframe: isIndependent, compositionTime };
    const head = kind === "audio" ? AAC_FRAME_HEAD : videoFrameHead(frame);
    const { chunkStreamId, typeId } = kind === "audio" ? AUDIO : VIDEO;
    const header = { chunkStreamId, typeId, timestamp, streamId: this.#streamId };
    const memory = pages.allocate(sizeOf(timestamp, head, data));
    putMessage(memory, 0, header, head, data, CLIENT_CHUNK_SIZE);
  }
}

interface Message {
  readonly chunkStreamId: number;
  readonly typeId: number;
  readonly head: Uint8Array;
  readonly body: Uint8Array;
}

const msOf = (ticks: number): number => Math.round(ticks / TICKS_PER_MS);

const sizeOf = (timestamp: number, head: Uint8Array, body: Uint8Array): number =>
  chunkedBytes(timestamp, head.byteLength + body.byteLength, CLIENT_CHUNK_SIZE);

function metadataOf({ video, audio }: LineTracks): AmfObject {
  return {
    ...(video && {
      width: video.width,
      height: video.height,
      videocodecid: FLV_CODECS[video.codec],
      ...(video.frameRate !== undefined && { framerate: video.frameRate }),
      ...(video.announcedBps !== undefined && { videodatarate: video.announcedBps / 1000 }),
    }),
    ...(audio && {
      audiocodecid: FLV_AAC,
      audiosamplerate: audio.sampleRate,
      audiosamplesize: 16,
      stereo: audio.channels > 1,
      ...(audio.announcedBps !== undefined && { audiodatarate: audio.announcedBps / 1000 }),
    }),
    encoder: "Weir",
  };
}

/** The number that Enhanced RTMP uses in metadata for codecs without an FLV id. */
function fourCc(text: string): number {
  return [...text].reduce((number, character) => number * 256 + character.charCodeAt(0), 0);
}
