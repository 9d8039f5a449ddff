import fc from "fast-check";
import { expect, test } from "vitest";
import { FormatError } from "../bits/index.ts";
import { ChunkReader, MESSAGE, readUint32, uint32Payload, writeMessage } from "./index.ts";

interface Message {
  readonly typeId: number;
  readonly timestamp: number;
  readonly streamId: number;
  readonly payload: Uint8Array;
}

interface SentMessage extends Message {
  readonly chunkStreamId: number;
}

/** A reader that obeys Set Chunk Size and Abort as a session does, and the messages it delivered. */
function collector(allocate?: (bytes: number) => Uint8Array) {
  const messages: Message[] = [];
  const after = { message: () => {} };
  const reader: ChunkReader = new ChunkReader((typeId, timestamp, streamId, payload) => {
    if (typeId === MESSAGE.setChunkSize) return reader.setChunkSize(readUint32(payload));
    if (typeId === MESSAGE.abort) return reader.abort(readUint32(payload));
    messages.push({ typeId, timestamp, streamId, payload });
    after.message();
  }, allocate);
  return { messages, after, reader };
}

function control(typeId: number, value: number): Uint8Array {
  return write({ chunkStreamId: 2, typeId, timestamp: 0, streamId: 0, payload: uint32Payload(value) }, 128);
}

/** Like `writeMessage`, but also for chunk stream ids of two and three bytes (RTMP 1.0, 5.3.1.1). */
function write(message: SentMessage, chunkSize: number): Uint8Array {
  const id = message.chunkStreamId - 64;
  if (id < 0) return writeMessage(message, chunkSize);
  const [marker, ...rest] = id < 256 ? [0, id] : [1, id & 255, id >> 8];
  const bytes = writeMessage({ ...message, chunkStreamId: 3 }, chunkSize);
  const extended = message.timestamp >= 0xffffff ? 4 : 0;
  const parts: Uint8Array[] = [];
  for (let at = 0, left = message.payload.length; at < bytes.length; left -= chunkSize) {
    const headerBytes = (at === 0 ? 11 : 0) + extended;
    const end = at + 1 + headerBytes + Math.min(chunkSize, left);
    parts.push(Uint8Array.of(((bytes[at] ?? 0) & 0xc0) | (marker ?? 0), ...rest), bytes.subarray(at + 1, end));
    at = end;
  }
  return joinAll(parts);
}

function join(...parts: Uint8Array[]): Uint8Array {
  return joinAll(parts);
}

function joinAll(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Pushes `bytes` into the reader in pieces of the sizes in `cuts`, repeatedly. Each piece is in memory that is overwritten afterwards. */
function feed(reader: ChunkReader, bytes: Uint8Array, cuts: readonly number[]): void {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    // A Buffer, as sockets deliver: its `slice` is a view, not a copy.
    const piece = Buffer.from(bytes.subarray(at, at + (cuts[i % cuts.length] ?? bytes.length)));
    at += piece.length;
    reader.push(piece);
    piece.fill(0xee);
  }
}

/** Bytes as text, which `toEqual` compares at once; it compares an array element by element. */
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const withText = <Message extends { payload: Uint8Array }>(message: Message) => ({
  ...message,
  payload: textOf(message.payload),
});

const PATTERN = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 31) & 255);

const message: fc.Arbitrary<SentMessage> = fc.record({
  chunkStreamId: fc.oneof(fc.integer({ min: 3, max: 63 }), fc.constantFrom(64, 65, 319, 320, 321, 65_599)),
  typeId: fc.constantFrom(MESSAGE.audio, MESSAGE.video, MESSAGE.dataAmf0),
  timestamp: fc.oneof(
    fc.integer({ min: 0, max: 0xffffffff }),
    fc.constantFrom(0xfffffe, 0xffffff, 0x1000000, 0xffffffff),
  ),
  streamId: fc.integer({ min: 0, max: 0xffffffff }),
  payload: fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.integer({ min: 0, max: PATTERN.length }).map((length) => PATTERN.subarray(0, length)),
  ),
});
const chunkSize = fc.oneof(fc.integer({ min: 1, max: 65_536 }), fc.constantFrom(1, 2, 127, 128, 4096, 65_536));
const cuts = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 65_536 })), {
  minLength: 1,
  maxLength: 20,
});

/** Limits the chunks per message: more take time and test nothing new. */
const MAX_CHUNKS = 500;
const inFewChunks = (messages: readonly SentMessage[], size: number): SentMessage[] =>
  messages.map((one) => ({ ...one, payload: one.payload.subarray(0, MAX_CHUNKS * size) }));

test("messages round-trip at any chunk size and however the bytes are split", () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), chunkSize, cuts, (drawn, size, pieces) => {
      const sent = inFewChunks(drawn, size);
      const wire = join(control(MESSAGE.setChunkSize, size), ...sent.map((m) => write(m, size)));
      const { reader, messages } = collector();
      feed(reader, wire, pieces);
      expect(messages.map(withText)).toEqual(sent.map(({ chunkStreamId: _, ...rest }) => withText(rest)));
    }),
    { numRuns: 60 },
  );
});

/** The same message from an encoder that omits the extended timestamp in chunks of type 3. */
function withoutRepeatedTimestamp(wire: Uint8Array, size: number, payloadBytes: number): Uint8Array {
  const parts = [wire.subarray(0, 16 + Math.min(size, payloadBytes))];
  for (let at = 16 + size, left = payloadBytes - size; left > 0; left -= size) {
    parts.push(wire.subarray(at, at + 1), wire.subarray(at + 5, at + 5 + Math.min(size, left)));
    at += 5 + size;
  }
  return joinAll(parts);
}

test("a continuation without the extended timestamp loses no payload", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 4, max: 200 }), cuts, (length, size, pieces) => {
      const header = { chunkStreamId: 6, typeId: MESSAGE.video, timestamp: 0x12345678, streamId: 1 };
      const payload = Uint8Array.from({ length }, (_, i) => 255 - (i & 127));
      const bare = withoutRepeatedTimestamp(writeMessage({ ...header, payload }, size), size, length);
      const { reader, messages } = collector();
      // Another message follows and provides the bytes that the reader checks before it decides.
      feed(reader, join(control(MESSAGE.setChunkSize, size), bare, bare, bare.subarray(0, 12)), pieces);
      expect(messages.map((m) => m.payload)).toEqual([payload, payload]);
    }),
  );
});

test("messages interleaved on two chunk streams are delivered as each completes", () => {
  const video = write(
    { chunkStreamId: 6, typeId: 9, timestamp: 40, streamId: 1, payload: new Uint8Array(200).fill(9) },
    128,
  );
  const audio = write(
    { chunkStreamId: 4, typeId: 8, timestamp: 41, streamId: 1, payload: new Uint8Array(10).fill(8) },
    128,
  );
  const { reader, messages } = collector();
  reader.push(join(video.subarray(0, 140), audio, video.subarray(140)));
  expect(messages.map((m) => [m.typeId, m.timestamp, m.payload.length])).toEqual([
    [8, 41, 10],
    [9, 40, 200],
  ]);
});

test.each([
  [
    "type 1: delta, new length",
    [0x44, 0, 0, 20, 0, 0, 1, 8, 7],
    [
      [1000, 2],
      [1020, 1],
    ],
  ],
  [
    "type 2: delta, same length",
    [0x84, 0, 0, 21, 7, 7],
    [
      [1000, 2],
      [1021, 2],
    ],
  ],
  [
    "type 3 after type 0: no delta",
    [0xc4, 7, 7],
    [
      [1000, 2],
      [1000, 2],
    ],
  ],
  [
    "type 3 after type 2: the same delta again",
    [0x84, 0, 0, 5, 7, 7, 0xc4, 7, 7],
    [
      [1000, 2],
      [1005, 2],
      [1010, 2],
    ],
  ],
])("compressed header of %s", (_, rest, expected) => {
  const { reader, messages } = collector();
  const first = write({ chunkStreamId: 4, typeId: 8, timestamp: 1000, streamId: 1, payload: Uint8Array.of(1, 2) }, 128);
  reader.push(join(first, Uint8Array.from(rest)));
  expect(messages.map((m) => [m.timestamp, m.payload.length])).toEqual(expected);
});

test("a timestamp delta wraps at 2^32", () => {
  const { reader, messages } = collector();
  const first = write(
    { chunkStreamId: 4, typeId: 8, timestamp: 0xfffffff0, streamId: 1, payload: Uint8Array.of(1) },
    128,
  );
  reader.push(join(first, Uint8Array.of(0x84, 0, 0, 0x20, 1)));
  expect(messages.map((m) => m.timestamp)).toEqual([0xfffffff0, 0x10]);
});

test("abort drops the unfinished message of its chunk stream and frees its memory", () => {
  const { reader, messages } = collector();
  reader.maxMessageBytes = 1000;
  const cut = write({ chunkStreamId: 6, typeId: 9, timestamp: 0, streamId: 1, payload: new Uint8Array(1000) }, 128);
  for (let i = 0; i < 50; i++) reader.push(join(cut.subarray(0, 140), control(MESSAGE.abort, 6)));
  reader.push(cut);
  expect(messages.map((m) => m.payload.length)).toEqual([1000]);
});

test("a paused reader delivers nothing, and resumes where it stopped", () => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 2, maxLength: 5 }), cuts, (drawn, pieces) => {
      const sent = inFewChunks(drawn, 64);
      const { reader, after, messages } = collector();
      after.message = () => reader.pause();
      feed(reader, join(control(MESSAGE.setChunkSize, 64), ...sent.map((m) => write(m, 64))), pieces);
      for (let count = 1; count <= sent.length; count++) {
        expect(messages.length).toBe(count);
        reader.resume();
      }
      expect(messages.map((m) => textOf(m.payload))).toEqual(sent.map((m) => textOf(m.payload)));
    }),
    { numRuns: 40 },
  );
});

test("announcing a 12 MB message allocates no more than 64 KiB", () => {
  const allocated: number[] = [];
  const { reader } = collector((size) => {
    allocated.push(size);
    return new Uint8Array(size);
  });
  reader.push(Uint8Array.of(0x06, 0, 0, 0, 0xb0, 0, 0, 9, 1, 0, 0, 0, 1, 2, 3));
  expect(allocated).toEqual([65_536]);
});

test("a message of 16 MB is rejected at its header", () => {
  expect(() => collector().reader.push(Uint8Array.of(0x06, 0, 0, 0, 0xff, 0xff, 0xff, 9, 1, 0, 0, 0))).toThrow(
    "a message of at most",
  );
});

test("a message over the configured limit is rejected at its header", () => {
  const { reader } = collector();
  reader.maxMessageBytes = 1000;
  expect(() => reader.push(Uint8Array.of(0x06, 0, 0, 0, 0, 0x03, 0xe9, 9, 1, 0, 0, 0))).toThrow(
    "at most 1000 bytes, not 1001",
  );
});

test.each([0, 0x1000000, 0x7fffffff, 0x80000000, 0x80000080, 0xffffffff])("a chunk size of %i is rejected", (size) => {
  expect(() => collector().reader.push(control(MESSAGE.setChunkSize, size))).toThrow(FormatError);
});

test("65,000 chunk streams with a partial message each are rejected at the 65th", () => {
  const { reader } = collector();
  const open = (id: number) =>
    reader.push(
      write({ chunkStreamId: id, typeId: 9, timestamp: 0, streamId: 1, payload: new Uint8Array(200) }, 128).subarray(
        0,
        100,
      ),
    );
  expect(() => {
    for (let id = 64; id < 65_000; id++) open(id);
  }).toThrow(FormatError);
});

test("the memory of partial messages is bounded across all chunk streams", () => {
  const { reader } = collector();
  reader.maxMessageBytes = 65_536;
  const begin = (id: number) =>
    write({ chunkStreamId: id, typeId: 9, timestamp: 0, streamId: 1, payload: new Uint8Array(65_536) }, 128).subarray(
      0,
      12 + 128 + 129 * 464,
    );
  reader.push(begin(3));
  reader.push(begin(4));
  expect(() => reader.push(begin(5))).toThrow("bytes in unfinished messages");
});

test.each([
  ["type 2 with no message before it", [0x84, 0, 0, 0]],
  ["type 3 with no message before it", [0xc4]],
  ["Set Chunk Size without a body", [0x02, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]],
])("%s is rejected", (_, bytes) => {
  expect(() => collector().reader.push(Uint8Array.from(bytes))).toThrow(FormatError);
});

test("a full header inside a message begins a new one", () => {
  const { reader, messages } = collector();
  const cut = write({ chunkStreamId: 6, typeId: 9, timestamp: 0, streamId: 1, payload: new Uint8Array(200) }, 128);
  reader.push(join(cut.subarray(0, 140), cut));
  expect(messages.map((m) => m.payload.length)).toEqual([200]);
});

test("random bytes give messages, an incomplete message, or FormatError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000, size: "max" }), cuts, (bytes, pieces) => {
      const { reader } = collector();
      try {
        feed(reader, bytes, pieces);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
  );
});

test("chunks of one byte cost less than a twentieth of a second per megabit", () => {
  const payload = new Uint8Array(125_000);
  const wire = write({ chunkStreamId: 6, typeId: 9, timestamp: 0, streamId: 1, payload: payload }, 1);
  const { reader } = collector();
  reader.push(control(MESSAGE.setChunkSize, 1));
  for (let i = 0; i < 5; i++) reader.push(wire);
  const start = process.cpuUsage();
  for (let i = 0; i < 10; i++) reader.push(wire);
  expect(process.cpuUsage(start).user / 10 / 1e6).toBeLessThan(0.05);
});

test("the missing bytes of a message are known once its header is read", () => {
  const { reader } = collector();
  const sent = writeMessage(
    { chunkStreamId: 4, typeId: MESSAGE.video, timestamp: 0, streamId: 1, payload: new Uint8Array(300) },
    128,
  );
  expect(reader.missing).toBe(0);
  const parts: [bytes: number, missing: number][] = [
    [5, 1], // within the header
    [7, 300],
    [28, 272],
    [100, 1], // between two chunks, where another message may come
    [1, 172],
    [128, 1],
    [45, 0],
  ];
  let at = 0;
  for (const [bytes, missing] of parts) {
    reader.push(sent.subarray(at, at + bytes));
    at += bytes;
    expect([at, reader.missing]).toEqual([at, missing]);
  }
  expect(at).toBe(sent.byteLength);
  reader.pause();
  expect(reader.missing).toBe(1);
});
