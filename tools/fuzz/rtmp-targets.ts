import { createHmac } from "node:crypto";
import {
  AAC_CONFIG_HEAD,
  AAC_FRAME_HEAD,
  readAudioTag,
  readVideoTag,
  videoConfigHead,
  videoFrameHead,
} from "@weir/formats/flv";
import {
  answerHandshake,
  ChunkReader,
  CLIENT_HELLO_BYTES,
  clientHello,
  type HandshakeCrypto,
  MESSAGE,
  metadataPayload,
  RtmpPlayClient,
  RtmpPublishClient,
  readAmf0,
  readCommand,
  readMetadata,
  readUint32,
  rtmpAddressOf,
  uint32Payload,
  writeAmf0,
  writeCommand,
  writeMessage,
} from "@weir/formats/rtmp";
import { type FuzzTarget, holds, utf8 } from "./fuzz-target.ts";
import { readInPieces } from "./read-in-pieces.ts";

/** As it is, and the random bytes are zeros: an input has one outcome. */
const CRYPTO: HandshakeCrypto = {
  hmacSha256: (key, data) => createHmac("sha256", key).update(data).digest(),
  random: (bytes) => new Uint8Array(bytes),
};
const COMMANDS = [
  "connect",
  "createStream",
  "publish",
  "_result",
  "_error",
  "onStatus",
  "code",
  "level",
  "NetStream.Publish.Start",
];
const PLACE = { app: "live", tcUrl: "rtmp://127.0.0.1/live", streamName: "key" };

const message = (typeId: number, payload: Uint8Array, streamId = 0, chunkSize = 128): Uint8Array =>
  writeMessage({ chunkStreamId: 3, typeId, timestamp: 40, streamId, payload }, chunkSize);
const joined = (...pieces: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(pieces));

const connect = writeCommand("connect", 1, { app: "live", tcUrl: "rtmp://127.0.0.1/live", objectEncoding: 0 });
const publish = writeCommand("publish", 5, null, "key", "live");
const broadcast = joined(
  message(MESSAGE.setChunkSize, uint32Payload(200)),
  message(MESSAGE.commandAmf0, connect, 0, 200),
  message(MESSAGE.commandAmf0, publish, 1, 200),
  message(MESSAGE.abort, uint32Payload(3), 0, 200),
  message(MESSAGE.video, new Uint8Array(300), 1, 200),
);
/** What a server answers a client. */
const answers = (...statuses: readonly Uint8Array[]) =>
  joined(
    Uint8Array.of(3),
    new Uint8Array(2 * 1536),
    message(MESSAGE.commandAmf0, writeCommand("_result", 1, {}, { code: "NetConnection.Connect.Success" })),
    message(MESSAGE.commandAmf0, writeCommand("_result", 4, null, 1)),
    ...statuses,
  );
const status = (code: string) =>
  message(MESSAGE.commandAmf0, writeCommand("onStatus", 0, null, { level: "status", code }), 1);

const MAX_MESSAGE_BYTES = 64 * 1024;

export const RTMP_TARGETS: readonly FuzzTarget[] = [
  {
    name: "rtmp-handshake",
    seeds: [clientHello(CRYPTO, true), clientHello(CRYPTO, false)],
    read(input) {
      holds(
        answerHandshake(joined(input, new Uint8Array(CLIENT_HELLO_BYTES)).subarray(0, CLIENT_HELLO_BYTES), CRYPTO)
          .length === 3073,
        "S0, S1 and S2 have 3073 bytes",
      );
    },
  },
  {
    name: "rtmp-chunks",
    seeds: [broadcast],
    read(input) {
      readInPieces(input, () => {
        const read: string[] = [];
        let allocated = 0;
        const reader: ChunkReader = new ChunkReader(
          (typeId, timestamp, streamId, payload) => {
            read.push(`${typeId} ${timestamp} ${streamId} ${payload.length}`);
            if (typeId === MESSAGE.setChunkSize) reader.setChunkSize(readUint32(payload));
            if (typeId === MESSAGE.abort) reader.abort(readUint32(payload));
          },
          (bytes) => {
            allocated += bytes;
            holds(allocated <= 16 * MAX_MESSAGE_BYTES + 8 * input.length, "memory follows what arrived");
            return new Uint8Array(bytes);
          },
        );
        reader.maxMessageBytes = MAX_MESSAGE_BYTES;
        return { read, push: (bytes) => reader.push(bytes) };
      });
    },
  },
  {
    name: "rtmp-publish-client",
    seeds: [answers(status("NetStream.Publish.Start")), answers(status("NetStream.Publish.BadName"))],
    words: COMMANDS,
    read(input) {
      const client = new RtmpPublishClient({ write() {}, publishing() {}, refused() {} }, PLACE);
      client.start(CRYPTO);
      client.push(input);
      client.stop();
    },
  },
  {
    name: "rtmp-play-client",
    seeds: [
      answers(status("NetStream.Play.Start"), message(MESSAGE.video, new Uint8Array(300), 1)),
      answers(status("NetStream.Play.StreamNotFound")),
      answers(message(MESSAGE.aggregate, joined(Uint8Array.of(9, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0), new Uint8Array(8)), 1)),
    ],
    words: [...COMMANDS, "onPlayStatus", "NetStream.Play.Complete"],
    read(input) {
      const client = new RtmpPlayClient({ write() {}, playing() {}, media() {}, complete() {}, refused() {} }, PLACE);
      client.start(CRYPTO);
      client.push(input);
    },
  },
  {
    name: "amf",
    seeds: [
      connect,
      metadataPayload({ width: 640, height: 360, framerate: 30, encoder: "obs" }),
      writeAmf0("name", [1, "two", null, true, { three: undefined }]),
    ],
    words: COMMANDS,
    read(input) {
      readAmf0(input);
      readCommand(input, MESSAGE.commandAmf3);
      readMetadata(input);
    },
  },
  {
    name: "flv-video",
    seeds: [
      joined(videoConfigHead("avc"), new Uint8Array(8)),
      joined(videoFrameHead({ codec: "avc", isKeyframe: true, compositionTime: 40 }), new Uint8Array(8)),
      joined(videoFrameHead({ codec: "hevc", isKeyframe: false, compositionTime: 0 }), new Uint8Array(8)),
      Uint8Array.of(0x96, 0x00, ...utf8("avc1"), 0, 0, 0, 4, 1, 2, 3, 4),
      Uint8Array.of(0x97, 0x00, 0, 0x01, ...utf8("av01"), 1, 2, 3, 4),
    ],
    words: ["avc1", "hvc1", "av01"],
    read(input) {
      const { dataOffset, dataEnd } = readVideoTag(input);
      holds(dataOffset >= 0 && dataOffset <= dataEnd && dataEnd <= input.length, "the data lies in the message");
    },
  },
  {
    name: "flv-audio",
    seeds: [
      joined(AAC_CONFIG_HEAD, Uint8Array.of(0x12, 0x10)),
      joined(AAC_FRAME_HEAD, new Uint8Array(8)),
      Uint8Array.of(0x91, ...utf8("Opus"), 1, 2, 3, 4),
      Uint8Array.of(0x95, 0x01, ...utf8("Opus"), 0, 1, 2, 3, 4),
      Uint8Array.of(0x2f, 1, 2, 3),
    ],
    words: ["mp4a", "Opus", "ac-3"],
    read(input) {
      holds(readAudioTag(input).dataOffset <= input.length, "the data lies in the message");
    },
  },
  {
    name: "rtmp-address",
    seeds: [utf8("rtmp://example.com:1935/live/key?token=1"), utf8("rtmps://[::1]/app/instance/key")],
    words: ["rtmp://", "/", "..", "%2f", "?", "[", "]", "@", ":"],
    read: (input) => void rtmpAddressOf(new TextDecoder().decode(input)),
  },
];
