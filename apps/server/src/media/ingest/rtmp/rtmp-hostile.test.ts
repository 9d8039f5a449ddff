/** What a publisher may do to us by malice or bad luck: each row refused or survived, nobody else harmed, nothing secret told. */
import { type AmfValue, MESSAGE, uint32Payload, writeCommand, writeMessage } from "@weir/formats/rtmp";
import { expect, test, vi } from "vitest";
import { aacConfig, aacFrame, avcConfig } from "./rtmp-media.fixture.ts";
import { RtmpTestClient } from "./rtmp-test-client.ts";
import { RtmpTestServer } from "./rtmp-test-server.ts";

async function connected(server: RtmpTestServer): Promise<RtmpTestClient> {
  const client = await RtmpTestClient.open(server.port);
  client.greet();
  client.connect();
  await client.called("_result");
  return client;
}

async function publishing(server: RtmpTestServer): Promise<RtmpTestClient> {
  const { client, status } = await RtmpTestClient.publish(server.port, "Right-Key");
  expect(status.code).toBe("NetStream.Publish.Start");
  return client;
}

test("row 1: a connection that sends nothing is closed after 10 s, and its slot is free", async () => {
  await using server = await RtmpTestServer.start();
  const client = await RtmpTestClient.open(server.port);
  await vi.waitFor(() => expect(server.server.connectionCount).toBe(1));
  server.clock.advance(10_000);
  await client.closed;
  await vi.waitFor(() => expect(server.server.connectionCount).toBe(0));
});

test("row 1: a connection that shook hands but never publishes is closed after 10 s", async () => {
  await using server = await RtmpTestServer.start();
  const client = await connected(server);
  server.clock.advance(10_000);
  await client.closed;
});

test.each([
  ["version 6", Uint8Array.of(6, 0, 0)],
  ["a TLS hello", Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc)],
  ["HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n")],
])("row 2: %s is refused at its first byte", async (_, bytes) => {
  await using server = await RtmpTestServer.start();
  const client = await RtmpTestClient.open(server.port);
  client.socket.removeAllListeners("data").resume();
  client.send(bytes);
  await client.closed;
});

test("row 3: a handshake of one byte a second meets one deadline for all of it", async () => {
  await using server = await RtmpTestServer.start();
  const client = await RtmpTestClient.open(server.port);
  await vi.waitFor(() => expect(server.server.connectionCount).toBe(1));
  for (let second = 0; second < 10; second++) {
    client.send(Uint8Array.of(3));
    server.clock.advance(1000);
  }
  await client.closed;
});

test.each([
  ["16 MB, publishing", publishing, 0xffffff],
  ["64 KiB and a byte, before publish", connected, 65_537],
])("row 4: a message of %s is refused at its header", async (_, open, bytes) => {
  await using server = await RtmpTestServer.start();
  const client = await open(server);
  const header = writeMessage(
    { chunkStreamId: 4, typeId: 9, timestamp: 0, streamId: 1, payload: new Uint8Array(bytes) },
    bytes,
  );
  client.send(header.subarray(0, 12));
  expect(await client.lastWords()).toMatchObject({
    level: "error",
    description: expect.stringContaining("a message of at most"),
  });
});

test.each([0, 0x7fffffff, 0x80000080, 0xffffffff])("row 5: Set Chunk Size %i is refused", async (size) => {
  await using server = await RtmpTestServer.start();
  const client = await connected(server);
  client.message(MESSAGE.setChunkSize, uint32Payload(size), 0, 0, 2);
  expect(await client.lastWords()).toMatchObject({ description: expect.stringContaining("a chunk size from 1") });
});

test("row 5: chunks of one byte work", async () => {
  await using server = await RtmpTestServer.start();
  const client = await connected(server);
  client.setChunkSize(1);
  client.publish("Right-Key");
  await client.status();
  client.message(MESSAGE.video, avcConfig());
  await vi.waitFor(() => expect(server.publication.tracks).toHaveLength(1));
});

test("row 6: 65,000 chunk streams with a partial message each are refused", async () => {
  await using server = await RtmpTestServer.start();
  const client = await connected(server);
  const begun = writeMessage(
    { chunkStreamId: 3, typeId: 9, timestamp: 0, streamId: 1, payload: new Uint8Array(200) },
    128,
  ).subarray(1, 140);
  const all = Array.from({ length: 65_000 }, (_, id) => Buffer.from([1, id & 255, id >> 8, ...begun]));
  client.send(Buffer.concat(all));
  await client.closed;
  expect(server.log).toContain("at most 64 chunk streams");
});

test.each([
  ["objects nested 10,000 deep", new Array(10_000).fill([3, 0, 1, 0x61]).flat()],
  ["an array of 2^32 - 1 values", [10, 0xff, 0xff, 0xff, 0xff]],
  ["an ECMA array that says 2^32 - 1 and has none", [8, 0xff, 0xff, 0xff, 0xff]],
  ["a string longer than the message", [2, 0xff, 0xff]],
  ["an unknown marker", [0x7f]],
])("row 7: a command with %s is refused", async (_, bytes) => {
  await using server = await RtmpTestServer.start();
  const client = await connected(server);
  client.message(MESSAGE.commandAmf0, Uint8Array.of(...writeCommand("connect", 1), ...bytes), 0, 0, 3);
  expect(await client.lastWords()).toMatchObject({
    level: "error",
    description: expect.stringContaining("could not read"),
  });
});

test.each<[string, AmfValue]>([
  ["false", false],
  ["null", null],
  ["a number", 7],
  ["an object", { key: "Right-Key" }],
  ["an array", ["Right-Key"]],
  ["the empty string", ""],
  ["10 kB", "k".repeat(10_000)],
  ["a slash", "a/b"],
  ["..", ".."],
  ["%00", "Right-Key%00"],
  ["a zero", "Right-Key\0"],
  ["a newline", "Right-Key\n"],
  ["an option", "-i;rm"],
  ["nothing but a query", "?Right-Key"],
])("row 8: publish with %s for a name is refused like a wrong key, and asks nobody", async (_, name) => {
  await using server = await RtmpTestServer.start();
  const { status } = await RtmpTestClient.publish(server.port, name);
  const { status: wrong } = await RtmpTestClient.publish(server.port, "Wrong-Key");
  expect(status).toEqual(wrong);
  expect(server.asked.map(({ streamKey }) => streamKey)).toEqual(["Wrong-Key"]);
});

test("row 9: publish before connect is refused", async () => {
  await using server = await RtmpTestServer.start();
  const client = await RtmpTestClient.open(server.port);
  client.greet();
  client.publish("Right-Key");
  expect(await client.lastWords()).toMatchObject({ level: "error", code: "NetStream.Publish.BadName" });
  expect(server.asked).toEqual([]);
});

test("row 9: a second publish on one connection is refused and ends the first", async () => {
  await using server = await RtmpTestServer.start();
  const client = await publishing(server);
  client.publish("Right-Key");
  expect(await client.lastWords()).toMatchObject({ level: "error", code: "NetStream.Publish.BadName" });
  expect(server.publications).toHaveLength(1);
  expect(server.publication.ends).toMatchObject([{ why: "source-lost" }]);
});

test("row 9: play is refused with what to do instead", async () => {
  await using server = await RtmpTestServer.start();
  const client = await connected(server);
  client.command(1, "play", 5, null, "Right-Key");
  expect(await client.lastWords()).toMatchObject({ level: "error", description: expect.stringContaining("HLS") });
});

test("row 10: an unknown key, one in other case and a suspended one get the same answer", async () => {
  await using server = await RtmpTestServer.start();
  server.refusals.set("Suspended-Key", "suspended");
  const answers = new Set<string>();
  for (const key of ["Wrong-Key", "right-key", "RIGHT-KEY", "Suspended-Key"]) {
    const { client, status } = await RtmpTestClient.publish(server.port, key);
    answers.add(JSON.stringify(status));
    await client.closed;
  }
  expect([...answers].map((text) => JSON.parse(text))).toEqual([
    { level: "error", code: "NetStream.Publish.BadName", description: expect.stringContaining("Check the stream key") },
  ]);
  expect(server.publications).toEqual([]);
});

test.each(["unknown-key", "suspended"] as const)(
  "row 10: after 20 wrong keys (%s) in a minute an address is not asked about any more",
  async (reason) => {
    await using server = await RtmpTestServer.start();
    server.refusals.set("Some-Key", reason);
    for (let i = 0; i < 20; i++) await RtmpTestClient.publish(server.port, "Some-Key");
    const { status } = await RtmpTestClient.publish(server.port, "Right-Key");
    expect(status).toMatchObject({
      level: "error",
      description: expect.stringContaining("Too many wrong stream keys"),
    });
    expect(server.asked).toHaveLength(20);
    const neighbour = await RtmpTestClient.publish(server.port, "Right-Key", "127.0.0.2");
    expect(neighbour.status.code).toBe("NetStream.Publish.Start");
    server.clock.advance(60_000);
    const later = await RtmpTestClient.publish(server.port, "Right-Key");
    expect(later.status.code).toBe("NetStream.Publish.Start");
  },
);

test("row 10: no stream key gets into the log", async () => {
  await using server = await RtmpTestServer.start();
  const client = await publishing(server);
  client.command(1, "FCUnpublish", 6, null, "Right-Key");
  await client.closed;
  for (const key of ["Wrong-Key", "Wrong-Key?x=1", "Wrong-Key/x", "Wrong-Key\n"]) {
    await (await RtmpTestClient.publish(server.port, key)).client.closed;
  }
  server.authorize = () => Promise.reject(new Error("database gone"));
  await (await RtmpTestClient.publish(server.port, "Wrong-Key")).client.closed;
  await vi.waitFor(() => expect(server.log.split("\n").filter((line) => line.includes("closed"))).toHaveLength(6));
  expect(server.log).not.toMatch(/Right-Key|Wrong-Key/);
});

test("row 16: garbage from one publisher leaves the others alone", async () => {
  await using server = await RtmpTestServer.start();
  const healthy = await publishing(server);
  healthy.message(MESSAGE.audio, aacConfig());
  const broken = await publishing(server);
  broken.send(Uint8Array.from({ length: 100_000 }, (_, i) => (i * 131 + (i >> 3)) & 255));
  await broken.closed;
  healthy.message(MESSAGE.audio, aacFrame(), 21);
  await vi.waitFor(() => expect(server.publication.packets).toHaveLength(1));
  expect(server.publications.map(({ ends }) => ends.length)).toEqual([0, 1]);
});

test("row 17: a publisher that makes the server answer and does not read is closed", async () => {
  await using server = await RtmpTestServer.start();
  const client = await publishing(server);
  client.socket.pause();
  const question = writeMessage(
    {
      chunkStreamId: 3,
      typeId: MESSAGE.commandAmf0,
      timestamp: 0,
      streamId: 0,
      payload: writeCommand("connect", 1, { app: "live" }),
    },
    128,
  );
  const questions = Buffer.concat(new Array(500).fill(question));
  while (server.publication.ends.length === 0) {
    await new Promise((resolve) => client.socket.write(questions, resolve));
  }
  expect(server.publication.ends).toMatchObject([{ why: "source-lost", reason: "the publisher does not read" }]);
  server.clock.advance(2000);
  await vi.waitFor(() => expect(server.server.connectionCount).toBe(0));
});

test("row 18: an address has 500 connections at most, others still get in", async () => {
  await using server = await RtmpTestServer.start();
  const clients = await Promise.all(Array.from({ length: 520 }, () => RtmpTestClient.open(server.port)));
  await vi.waitFor(() => expect(clients.filter(({ socket }) => socket.closed)).toHaveLength(20));
  expect(server.server.connectionCount).toBe(500);
  const { status } = await RtmpTestClient.publish(server.port, "Right-Key", "127.0.0.2");
  expect(status.code).toBe("NetStream.Publish.Start");
});
