/** Attacks and accidents of publishers: each is refused or survived, harms no other client, and reveals no secret. */
import { type AmfValue, MESSAGE, uint32Payload, writeCommand, writeMessage } from "@weir/formats/rtmp";
import { expect, test } from "vitest";
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
  await expect.poll(() => server.server.connectionCount).toBe(1);
  server.clock.advance(10_000);
  await client.closed;
  await expect.poll(() => server.server.connectionCount).toBe(0);
});

test("row 1: a connection that completes the handshake but never publishes is closed after 10 s", async () => {
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

test("row 3: one deadline covers the whole handshake, at one byte per second too", async () => {
  await using server = await RtmpTestServer.start();
  const client = await RtmpTestClient.open(server.port);
  await expect.poll(() => server.server.connectionCount).toBe(1);
  for (let second = 0; second < 10; second++) {
    client.send(Uint8Array.of(3));
    server.clock.advance(1000);
  }
  await client.closed;
});

test.each([
  ["16 MB, publishing", publishing, 0xffffff],
  ["16 KiB and a byte, before publish", connected, 16_385],
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
  await expect.poll(() => server.publication.tracks).toHaveLength(1);
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
])("row 8: publish with %s for a name is refused like a wrong key, without asking the gate", async (_, name) => {
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

test("row 9: play is refused with the alternative", async () => {
  await using server = await RtmpTestServer.start();
  const client = await connected(server);
  client.command(1, "play", 5, null, "Right-Key");
  expect(await client.lastWords()).toMatchObject({ level: "error", description: expect.stringContaining("HLS") });
});

test("row 10: an unknown key, one in different case and a suspended one get the same response", async () => {
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
  "row 10: after 20 wrong keys (%s) an address hears late that a key is wrong, and a right one still gets in",
  async (reason) => {
    await using server = await RtmpTestServer.start();
    server.refusals.set("Some-Key", reason);
    const quick = await RtmpTestClient.publish(server.port, "Some-Key");
    for (let i = 1; i < 20; i++) await RtmpTestClient.publish(server.port, "Some-Key");
    const guess = await RtmpTestClient.open(server.port);
    guess.greet();
    guess.connect();
    guess.publish("Some-Key");
    await expect.poll(() => server.asked).toHaveLength(21);
    const { status } = await RtmpTestClient.publish(server.port, "Right-Key");
    expect(status.code).toBe("NetStream.Publish.Start");
    await expect(guess.called("_result")).resolves.toBeDefined();
    expect(guess.received.filter(({ payload }) => Buffer.from(payload).includes("onStatus"))).toEqual([]);
    server.clock.advance(3_000);
    expect(await guess.status()).toEqual(quick.status);
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
  await expect.poll(() => server.log.split("\n").filter((line) => line.includes("closed"))).toHaveLength(6);
  expect(server.log).not.toMatch(/Right-Key|Wrong-Key/);
});

test("row 16: garbage from one publisher does not affect others", async () => {
  await using server = await RtmpTestServer.start();
  const healthy = await publishing(server);
  healthy.message(MESSAGE.audio, aacConfig());
  const broken = await publishing(server);
  broken.send(Uint8Array.from({ length: 100_000 }, (_, i) => (i * 131 + (i >> 3)) & 255));
  await broken.closed;
  healthy.message(MESSAGE.audio, aacFrame(), 21);
  await expect.poll(() => server.publication.packets).toHaveLength(1);
  expect(server.publications.map(({ ends }) => ends.length)).toEqual([0, 1]);
});

test("row 17: a publisher that provokes responses and does not read them is closed", async () => {
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
  await expect.poll(() => server.server.connectionCount).toBe(0);
});

/** Opens connections from an address and waits until the server has accepted them all. */
async function openMany(server: RtmpTestServer, count: number, address?: string): Promise<RtmpTestClient[]> {
  const clients: RtmpTestClient[] = [];
  for (let i = 0; i < count; i++) clients.push(await RtmpTestClient.open(server.port, address));
  return clients;
}

const closedOf = (clients: readonly RtmpTestClient[]) => clients.map(({ socket }) => socket.closed);

test("row 18: of 220 silent connections from one address the 20 oldest are closed, and a valid key is accepted", async () => {
  await using server = await RtmpTestServer.start();
  const clients = await openMany(server, 220);
  await expect.poll(() => closedOf(clients).filter(Boolean)).toHaveLength(20);
  expect(closedOf(clients.slice(0, 20)).every(Boolean)).toBe(true);
  for (const address of ["127.0.0.1", "127.0.0.2"]) {
    const { status } = await RtmpTestClient.publish(server.port, "Right-Key", address);
    expect(status.code).toBe("NetStream.Publish.Start");
  }
});

test("row 18: four addresses that hold all slots without a key do not block a valid key", async () => {
  await using server = await RtmpTestServer.start({ maxConnections: 80 });
  const silent = await Promise.all([1, 2, 3, 4].map((host) => openMany(server, 30, `127.0.0.${host}`)));
  const { status } = await RtmpTestClient.publish(server.port, "Right-Key", "127.0.0.5");
  expect(status.code).toBe("NetStream.Publish.Start");
  await expect.poll(() => closedOf(silent.flat()).filter((closed) => !closed).length).toBeLessThanOrEqual(20);
});

test("row 18: connections without a key disconnect no publisher", async () => {
  await using server = await RtmpTestServer.start({ maxConnections: 8 });
  await publishing(server);
  const others = await openMany(server, 6, "127.0.0.2");
  await expect.poll(() => closedOf(others).filter(Boolean)).toHaveLength(5);
  expect(server.publication.ends).toEqual([]);
});

test("publishers beyond the server's limit get a reason", async () => {
  await using server = await RtmpTestServer.start({ maxConnections: 4 });
  for (let i = 0; i < 3; i++) await publishing(server);
  const { status } = await RtmpTestClient.publish(server.port, "Right-Key");
  expect(status.description).toContain("reached its limit of publishers");
  expect(server.publications.map(({ ends }) => ends.length)).toEqual([0, 0, 0, 1]);
});

test("62 messages announced before the key allocate 512 bytes each", async () => {
  await using server = await RtmpTestServer.start();
  const client = await connected(server);
  const before = server.allocated.length;
  for (let id = 2; id < 62; id++) {
    const message = { chunkStreamId: id, typeId: 20, timestamp: 0, streamId: 1, payload: new Uint8Array(16_384) };
    if (id !== 3) client.send(writeMessage(message, 128).subarray(0, 12 + 128));
  }
  await expect.poll(() => server.allocated.length - before).toBe(59);
  expect(Math.max(...server.allocated.slice(before))).toBe(512);
});

const PROXY = "127.0.0.9";
const header = (address: string) => Buffer.from(`PROXY TCP4 ${address} 127.0.0.1 40000 1935\r\n`);

async function publishThrough(server: RtmpTestServer, proxy: string, address: string, key: string) {
  const client = await RtmpTestClient.open(server.port, proxy);
  client.send(header(address));
  client.greet();
  client.connect();
  client.publish(key);
  return client;
}

test("behind a trusted proxy the PROXY header identifies the client", async () => {
  await using server = await RtmpTestServer.start({ proxies: [PROXY] });
  for (let i = 0; i < 21; i++) void publishThrough(server, PROXY, "203.0.113.66", `Wrong-Key-${i}`);
  await expect.poll(() => server.asked).toHaveLength(21);
  const neighbour = await publishThrough(server, PROXY, "203.0.113.7", "Wrong-Key");
  expect((await neighbour.status()).code).toBe("NetStream.Publish.BadName");
  expect(server.asked.at(-1)?.remoteAddress).toBe("203.0.113.7");
});

test("a trusted proxy may omit the PROXY header, and is then not limited as a client", async () => {
  await using server = await RtmpTestServer.start({ proxies: [PROXY] });
  const silent = await openMany(server, 220, PROXY);
  const { status } = await RtmpTestClient.publish(server.port, "Right-Key", PROXY);
  expect(status.code).toBe("NetStream.Publish.Start");
  expect(closedOf(silent).some(Boolean)).toBe(false);
});

test("a PROXY header from any other peer is refused", async () => {
  await using server = await RtmpTestServer.start({ proxies: [PROXY] });
  const client = await publishThrough(server, "127.0.0.8", "203.0.113.7", "Right-Key");
  await client.closed;
  expect([server.asked, server.log.includes("WEIR_TRUSTED_PROXIES")]).toEqual([[], true]);
});
