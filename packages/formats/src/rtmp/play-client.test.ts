import fc from "fast-check";
import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { readAggregate } from "./aggregate.ts";
import { answerHandshake, CLIENT_HELLO_BYTES, MESSAGE, RtmpPlayClient, writeCommand, writeMessage } from "./index.ts";

const CRYPTO = { hmacSha256: () => new Uint8Array(32), random: (bytes: number) => new Uint8Array(bytes).fill(7) };
const PLACE = { app: "app", tcUrl: "rtmp://source.example/app", streamName: "name" };

/** A client that has asked for its stream; `most`: the bytes of the largest buffer that it asked for. */
function playing() {
  const told: unknown[] = [];
  const state = { most: 0 };
  const client = new RtmpPlayClient(
    {
      write() {},
      playing: () => told.push("playing"),
      media: (kind, timestamp) => told.push([kind, timestamp]),
      complete: () => told.push("complete"),
      refused: (why) => told.push(why),
    },
    PLACE,
    (bytes) => {
      state.most = Math.max(state.most, bytes);
      return new Uint8Array(bytes);
    },
  );
  client.start(CRYPTO);
  client.push(answerHandshake(new Uint8Array(CLIENT_HELLO_BYTES).fill(3), CRYPTO));
  const message = (typeId: number, payload: Uint8Array, timestamp = 0) =>
    client.push(writeMessage({ chunkStreamId: 3, typeId, timestamp, streamId: 1, payload }, 128));
  const command = (name: string, transactionId: number, ...values: Parameters<typeof writeCommand>[2][]) =>
    message(MESSAGE.commandAmf0, writeCommand(name, transactionId, ...values));
  command("_result", 1, {}, {});
  command("_result", 4, null, 1);
  return { client, told, state, message, command };
}

test("media that comes without a status is media", () => {
  const { told, message } = playing();
  message(MESSAGE.video, new Uint8Array(3), 7);
  expect(told).toEqual(["playing", ["video", 7]]);
});

test("metadata that cannot be read harms nothing, and nothing is read behind the end", () => {
  const { told, message, command } = playing();
  message(MESSAGE.dataAmf0, Uint8Array.of(0x7f, 1, 2));
  command("onStatus", 0, null, { level: "status", code: "NetStream.Play.Stop" });
  message(MESSAGE.video, new Uint8Array(3));
  expect(told).toEqual([["data", 0], "over"]);
});

test("the messages of an aggregate keep their distances, over the wrap too; one within another is left out", () => {
  const { told, message } = playing();
  const tag = (type: number, time: number) =>
    Uint8Array.of(type, 0, 0, 1, time >> 16, time >> 8, time, time >>> 24, 0, 0, 0, 9, 0, 0, 0, 12);
  const tags = [tag(8, 0xfffffff0), tag(9, 4), tag(22, 5)].flatMap((bytes) => [...bytes]);
  message(MESSAGE.aggregate, Uint8Array.from(tags), 100);
  expect(told).toEqual(["playing", ["audio", 100], ["video", 120]]);
});

test("a message's length is no measure of the memory it gets", () => {
  const { client, state } = playing();
  client.push(Uint8Array.of(4, 0, 0, 0, 0xb7, 0x1b, 0, 9, 1, 0, 0, 0, ...new Uint8Array(100)));
  expect(state.most).toBeLessThanOrEqual(64 * 1024);
});

test("random bytes instead of media are read, rejected, or a FormatError", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 4 }), (pieces) => {
      const { client } = playing();
      try {
        for (const piece of pieces) client.push(piece);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
      try {
        for (const piece of pieces) expect([...readAggregate(piece, 0)].length).toBeLessThan(30);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
    { numRuns: 300 },
  );
});
