import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import {
  type AmfValue,
  answerHandshake,
  ChunkReader,
  CLIENT_HELLO_BYTES,
  HANDSHAKE_BYTES,
  MESSAGE,
  metadataPayload,
  RtmpPublishClient,
  readCommand,
  readMetadata,
  readUint32,
  uint32Payload,
  userControlPayload,
  writeCommand,
  writeMessage,
} from "./index.ts";

const CRYPTO = { hmacSha256: () => new Uint8Array(32), random: (bytes: number) => new Uint8Array(bytes).fill(7) };
const ADDRESS = { app: "app", tcUrl: "rtmp://target.example/app", streamName: "key" };

let client: RtmpPublishClient;
/** The client's messages: command names, and the types of other messages. */
let said: unknown[];
let ended: string[];
let handshake: Uint8Array;
let reader: ChunkReader;

beforeEach(() => {
  said = [];
  ended = [];
  handshake = new Uint8Array();
  reader = new ChunkReader((typeId, _time, streamId, payload) => {
    if (typeId === MESSAGE.setChunkSize) reader.setChunkSize(readUint32(payload));
    if (typeId !== MESSAGE.commandAmf0) return void said.push(typeId);
    const { name, args, object } = readCommand(payload, typeId);
    said.push(name === "connect" ? [name, object] : [name, ...args, streamId]);
  });
  client = new RtmpPublishClient(
    {
      write(bytes) {
        const awaited = CLIENT_HELLO_BYTES + HANDSHAKE_BYTES - handshake.byteLength;
        handshake = Uint8Array.from([...handshake, ...bytes.subarray(0, awaited)]);
        reader.push(bytes.subarray(awaited));
      },
      publishing: (streamId) => said.push(`publishing ${streamId}`),
      refused: (words) => ended.push(words),
    },
    ADDRESS,
  );
  client.start(CRYPTO);
});

const answer = (name: string, transactionId: number, ...values: AmfValue[]) =>
  message(MESSAGE.commandAmf0, writeCommand(name, transactionId, ...values));
const message = (typeId: number, payload: Uint8Array) =>
  client.push(writeMessage({ chunkStreamId: 3, typeId, timestamp: 0, streamId: 0, payload }, 128));
const shakeHands = () => client.push(answerHandshake(handshake, CRYPTO));
const status = (info: Record<string, AmfValue>) => answer("onStatus", 0, null, { level: "error", ...info });

test("publishes with handshake, connect, createStream and publish, and ends the broadcast explicitly", () => {
  shakeHands();
  expect(handshake.byteLength).toBe(CLIENT_HELLO_BYTES + HANDSHAKE_BYTES);
  expect(said).toEqual([["connect", expect.objectContaining({ app: "app", tcUrl: ADDRESS.tcUrl })]]);
  answer("_result", 1, {}, { code: "NetConnection.Connect.Success" });
  answer("_result", 4, null, 5);
  expect(said.slice(1)).toEqual([
    MESSAGE.setChunkSize,
    ["releaseStream", "key", 0],
    ["FCPublish", "key", 0],
    ["createStream", 0],
    ["publish", "key", "live", 5],
  ]);
  answer("onStatus", 0, null, { level: "status", code: "NetStream.Publish.Start" });
  expect(said.at(-1)).toBe("publishing 5");
  client.stop();
  expect(said.slice(-2)).toEqual([
    ["FCUnpublish", "key", 0],
    ["deleteStream", 5, 0],
  ]);
  expect(ended).toEqual([]);
});

test("an answer may arrive byte by byte", () => {
  for (const byte of answerHandshake(handshake, CRYPTO)) client.push(Uint8Array.of(byte));
  expect(said).toHaveLength(1);
});

test.each<[string, () => void, string]>([
  ["the words of an error status", () => status({ description: "The key is wrong." }), "The key is wrong."],
  ["its code where it has no words", () => status({ code: "NetStream.Publish.BadName" }), "NetStream.Publish.BadName"],
  ["a sentence where it says nothing", () => status({}), "it refused without a reason"],
  [
    "the words of a refused connect",
    () => answer("_error", 1, null, { description: "No such application." }),
    "No such application.",
  ],
  [
    "that a redirect is not followed",
    () => answer("_error", 1, null, { description: "moved", ex: { code: 302, redirect: "rtmp://10.0.0.1/app" } }),
    "it redirects to another address, which is not followed",
  ],
])("a refusal tells %s, and nothing behind it is read", (_what, refuse, words) => {
  shakeHands();
  refuse();
  refuse();
  expect(ended).toEqual([words]);
});

test("a server of another protocol is rejected at its first byte", () => {
  expect(() => client.push(new TextEncoder().encode("HTTP/1.1 400 Bad Request\r\n"))).toThrow(FormatError);
});

test("answers pings and acknowledges what it reads", () => {
  shakeHands();
  message(MESSAGE.userControl, userControlPayload(6, 1));
  message(MESSAGE.windowAckSize, uint32Payload(1024));
  for (let i = 0; i < 8; i++) message(MESSAGE.audio, new Uint8Array(127));
  expect(said.slice(1)).toEqual([MESSAGE.userControl, MESSAGE.acknowledgement]);
});

test("an oversized message is rejected before it is buffered", () => {
  shakeHands();
  const payload = new Uint8Array(64 * 1024 + 1);
  const bytes = writeMessage({ chunkStreamId: 3, typeId: 9, timestamp: 0, streamId: 0, payload }, 128);
  expect(() => client.push(bytes.subarray(0, 20))).toThrow(FormatError);
});

test("random bytes after the handshake are read, rejected, or a FormatError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      const target = new RtmpPublishClient({ write() {}, publishing() {}, refused() {} }, ADDRESS);
      target.start(CRYPTO);
      target.push(answerHandshake(handshake, CRYPTO));
      try {
        target.push(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
    { numRuns: 300 },
  );
});

test("metadata round-trips", () => {
  expect(readMetadata(metadataPayload({ width: 640, encoder: "Weir" }))).toEqual({ width: 640, encoder: "Weir" });
});
