import { MESSAGE, USER_CONTROL, uint32Payload, userControlPayload } from "@weir/formats/rtmp";
import { expect, test } from "vitest";
import type { PublishDecision } from "../../../ports/index.ts";
import { grantOf } from "../ingest-rig.ts";
import { aacConfig, avcConfig, avcFrame, avcKeyframe } from "./rtmp-media.fixture.ts";
import { RtmpTestClient } from "./rtmp-test-client.ts";
import { RtmpTestServer } from "./rtmp-test-server.ts";

function sendOpening(client: RtmpTestClient): void {
  client.message(MESSAGE.video, avcConfig(), 0);
  client.message(MESSAGE.audio, aacConfig(), 0);
  client.message(MESSAGE.video, avcKeyframe(), 0);
}

test.each([
  ["plain", false],
  ["digest", true],
])("a publisher with a %s handshake is authorised, and its packets reach the hub", async (_, isSigned) => {
  await using server = await RtmpTestServer.start();
  const client = await RtmpTestClient.open(server.port);
  client.greet(isSigned);
  client.connect();
  client.publish("Right-Key");
  expect(await client.status()).toEqual({
    level: "status",
    code: "NetStream.Publish.Start",
    description: "Publishing.",
  });
  expect(server.asked).toEqual([{ protocol: "rtmp", streamKey: "Right-Key", remoteAddress: "127.0.0.1" }]);
  sendOpening(client);
  await expect.poll(() => server.publication.packets).toHaveLength(1);
  expect(server.publication.tracks.map((track) => track.codecString)).toEqual(["avc1.640028", "mp4a.40.2"]);
});

test("the key may have a query, and the application a slash", async () => {
  await using server = await RtmpTestServer.start();
  const client = await RtmpTestClient.open(server.port);
  client.greet();
  client.connect("live/");
  client.publish("Right-Key?token=1&x=/../");
  expect(await client.status()).toMatchObject({ code: "NetStream.Publish.Start" });
  expect(server.asked).toMatchObject([{ streamKey: "Right-Key" }]);
});

test("another application is rejected with the address to use", async () => {
  await using server = await RtmpTestServer.start();
  const client = await RtmpTestClient.open(server.port);
  client.greet();
  client.connect("vod");
  const { args } = await client.called("_error");
  expect(args).toMatchObject([
    { code: "NetConnection.Connect.Rejected", description: expect.stringContaining("live") },
  ]);
  await client.closed;
  expect(server.asked).toEqual([]);
});

test("the responses that encoders wait for have their transaction id", async () => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  client.command(0, "_checkbw", 7, null);
  const numberOf = (n: number) =>
    Buffer.from(Uint8Array.of(0, ...new Uint8Array(new Float64Array([n]).buffer).reverse()));
  const results = () =>
    client.received
      .filter(({ typeId }) => typeId === MESSAGE.commandAmf0)
      .map(({ payload }) => Buffer.from(payload))
      .filter((payload) => payload.includes("_result"));
  await expect.poll(() => results().some((payload) => payload.includes(numberOf(7)))).toBe(true);
  for (const transaction of [1, 2, 3, 4]) {
    expect(results().some((payload) => payload.includes(numberOf(transaction)))).toBe(true);
  }
  const types = client.received.map(({ typeId }) => typeId);
  expect(types).toEqual(
    expect.arrayContaining([MESSAGE.windowAckSize, MESSAGE.setPeerBandwidth, MESSAGE.setChunkSize]),
  );
});

test("a ping is answered with its timestamp", async () => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  client.message(MESSAGE.userControl, userControlPayload(USER_CONTROL.pingRequest, 0xdeadbeef), 0, 0, 2);
  const { payload } = await client.answer("a pong", ({ typeId }) => typeId === MESSAGE.userControl);
  expect(payload).toEqual(userControlPayload(USER_CONTROL.pingResponse, 0xdeadbeef));
});

test("bytes are acknowledged whenever the publisher's window is full", async () => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  client.message(MESSAGE.windowAckSize, uint32Payload(20_000), 0, 0, 2);
  client.message(MESSAGE.dataAmf0, new Uint8Array(30_000));
  const { payload } = await client.answer("an acknowledgement", ({ typeId }) => typeId === MESSAGE.acknowledgement);
  expect(Buffer.from(payload).readUInt32BE()).toBeGreaterThanOrEqual(20_000);
});

test("nothing is acknowledged unasked: a publisher that closes with an answer unread resets its connection, and its stop is lost", async () => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  client.setChunkSize(65_536);
  for (let sent = 0; sent < 3_000_000; sent += 15_000) client.message(MESSAGE.dataAmf0, new Uint8Array(15_000));
  client.message(MESSAGE.userControl, userControlPayload(USER_CONTROL.pingRequest, 1), 0, 0, 2);
  await client.answer("a pong", ({ typeId }) => typeId === MESSAGE.userControl);
  // Whatever was to be acknowledged before the ping was.
  expect(client.received.filter(({ typeId }) => typeId === MESSAGE.acknowledgement)).toEqual([]);
});

test("a frame of 300 kB arrives complete, at any chunk size", async () => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  client.message(MESSAGE.audio, aacConfig());
  const data = Uint8Array.from({ length: 300_000 }, (_, i) => (i * 7) & 255);
  for (const size of [128, 4096, 65_536]) {
    client.setChunkSize(size);
    client.message(MESSAGE.audio, Buffer.concat([Uint8Array.of(0xaf, 1), data]));
  }
  await expect.poll(() => server.publication.packets).toHaveLength(3);
  for (const packet of server.publication.packets) expect(Buffer.compare(packet.data.bytes, data)).toBe(0);
});

test.each(["FCUnpublish", "deleteStream", "closeStream"])("%s is a clean stop", async (name) => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  client.command(1, name, 6, null, "Right-Key");
  await client.closed;
  expect(server.publication.ends).toEqual([{ why: "clean-stop", reason: "the publisher stopped" }]);
});

test.each([
  ["closed", (client: RtmpTestClient) => client.socket.end()],
  ["reset", (client: RtmpTestClient) => client.socket.resetAndDestroy()],
])("a connection that is %s without a stop is a lost source", async (_, cut) => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  cut(client);
  await expect.poll(() => server.publication.ends).toMatchObject([{ why: "source-lost" }]);
  await expect.poll(() => server.server.connectionCount).toBe(0);
});

test("a vanished peer is detected after 30 s of silence", async () => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  server.clock.advance(30_000);
  client.message(MESSAGE.audio, aacConfig());
  await expect.poll(() => server.publication.tracks).toHaveLength(1);
  server.clock.advance(30_000);
  expect(server.publication.ends).toEqual([]);
  server.clock.advance(10_000);
  expect(server.publication.ends).toMatchObject([{ why: "source-lost", reason: "nothing received for 30 s" }]);
});

test("a publisher closed by the hub can read the reason", async () => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  server.publication.publisher.close("Another encoder took this stream over.");
  expect(await client.lastWords()).toEqual({
    level: "error",
    code: "NetStream.Publish.Denied",
    description: "Another encoder took this stream over.",
  });
  expect(server.publication.ends).toEqual([]);
});

test("a takeover does not wait for a dead connection, which is destroyed two seconds later", async () => {
  await using server = await RtmpTestServer.start();
  const { client: dead } = await RtmpTestClient.publish(server.port, "Right-Key");
  dead.socket.pause(); // it reads nothing and never closes, as a peer whose network is gone
  const { open } = server;
  server.open = (grant, publisher) => {
    server.publication.publisher.close("Another encoder took this stream over.");
    return open(grant, publisher);
  };
  const { client, status } = await RtmpTestClient.publish(server.port, "Right-Key");
  expect(status).toMatchObject({ code: "NetStream.Publish.Start" });
  sendOpening(client);
  await expect.poll(() => server.publications[1]?.packets).toHaveLength(1);
  expect(server.server.connectionCount).toBe(2);
  server.clock.advance(2000);
  await expect.poll(() => server.server.connectionCount).toBe(1);
  expect(client.socket.closed).toBe(false);
});

test("an unsupported codec is named to the broadcaster", async () => {
  await using server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  client.message(MESSAGE.audio, Uint8Array.of(0x2f, 1, 2, 3));
  expect(await client.lastWords()).toMatchObject({
    level: "error",
    description: "This server does not support MP3 audio. Set the encoder to AAC.",
  });
  expect(server.publication.ends).toMatchObject([{ why: "source-lost" }]);
});

test("media sent right after publish waits for the gate and is not lost", async () => {
  await using server = await RtmpTestServer.start();
  let answer = (_: PublishDecision) => {};
  server.authorize = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const client = await RtmpTestClient.open(server.port);
  client.socket.cork();
  client.greet();
  client.connect();
  client.publish("Right-Key");
  sendOpening(client);
  client.message(MESSAGE.video, avcFrame(), 33);
  client.socket.uncork();
  await expect.poll(() => server.asked).toHaveLength(1);
  expect(server.publications).toEqual([]);
  answer(grantOf(1));
  await expect.poll(() => server.publication.packets).toHaveLength(2);
  expect(server.publication.tracks).toHaveLength(2);
});

test("a grant for a publisher that has left is released immediately", async () => {
  await using server = await RtmpTestServer.start();
  let answer = (_: PublishDecision) => {};
  server.authorize = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const client = await RtmpTestClient.open(server.port);
  client.greet();
  client.connect();
  client.publish("Right-Key");
  await expect.poll(() => server.asked).toHaveLength(1);
  server.clock.advance(40_000);
  await client.closed;
  answer(grantOf(1));
  await expect.poll(() => server.publication.ends).toMatchObject([{ why: "source-lost" }]);
});

test.each([
  [
    "a gate that throws",
    (server: RtmpTestServer) => {
      server.authorize = () => Promise.reject(new Error("database gone"));
    },
  ],
  [
    "a hub that throws",
    (server: RtmpTestServer) => {
      server.open = () => {
        throw new Error("no memory");
      };
    },
  ],
])("%s closes this publisher only", async (_, breakIt) => {
  await using server = await RtmpTestServer.start();
  const { open, authorize } = server;
  breakIt(server);
  const broken = await RtmpTestClient.open(server.port);
  broken.greet();
  broken.connect();
  broken.publish("Right-Key");
  await broken.closed;
  Object.assign(server, { open, authorize });
  const { status } = await RtmpTestClient.publish(server.port, "Right-Key");
  expect(status).toMatchObject({ code: "NetStream.Publish.Start" });
});

test("a publisher ahead of real time is not read until it is due, and nothing is lost", async () => {
  await using server = await RtmpTestServer.start();
  const { open } = server;
  server.open = (...args) => Object.assign(open(...args), { waitMs: 300 });
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  sendOpening(client);
  for (let frame = 1; frame < 4000; frame++) client.message(MESSAGE.video, avcFrame(), frame * 33);
  client.command(1, "deleteStream", 6, null);
  await expect.poll(() => server.publication.tracks).toHaveLength(1);
  server.clock.advance(1000);
  expect(server.publication.tracks).toHaveLength(1);
  expect(server.publication.packets).toEqual([]);
  expect(client.socket.writableLength + client.socket.bytesWritten).toBeGreaterThan(4000 * 20);
  server.publication.waitMs = 0;
  server.clock.advance(300);
  await expect.poll(() => server.publication.ends).toMatchObject([{ why: "clean-stop" }]);
  expect(server.publication.packets).toHaveLength(4000);
  expect(server.log.split("with ffmpeg, use -re")).toHaveLength(2);
});

test("a publisher that leaves while paused is removed", async () => {
  await using server = await RtmpTestServer.start();
  const { open } = server;
  server.open = (...args) => Object.assign(open(...args), { waitMs: 300 });
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  sendOpening(client);
  await expect.poll(() => server.publication.tracks).toHaveLength(1);
  client.socket.destroy();
  server.publication.waitMs = 0;
  server.clock.advance(300);
  await expect.poll(() => server.publication.ends).toMatchObject([{ why: "source-lost" }]);
  expect(server.server.connectionCount).toBe(0);
});

test("close ends every connection, and no event follows", async () => {
  const server = await RtmpTestServer.start();
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  await server.server.close();
  await client.closed;
  await expect.poll(() => server.publication.ends).toMatchObject([{ why: "source-lost" }]);
  expect(server.server.connectionCount).toBe(0);
});
