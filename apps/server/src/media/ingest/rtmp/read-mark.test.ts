import { MESSAGE } from "@weir/formats/rtmp";
import { expect, test } from "vitest";
import { LOOK_MS, ReadMark } from "./read-mark.ts";
import { aacConfig, aacFrame, avcConfig, avcFrame, avcKeyframe, nal } from "./rtmp-media.fixture.ts";
import { RtmpTestClient } from "./rtmp-test-client.ts";
import { RtmpTestServer } from "./rtmp-test-server.ts";

/** The marks set, newest last. */
function marked() {
  const marks: number[] = [];
  return { marks, mark: new ReadMark((bytes) => marks.push(bytes)) };
}

/** This many intervals, each with these frames read. */
function looks(mark: ReadMark, count: number, ...frames: number[]): void {
  for (let nth = 0; nth < count; nth++) {
    for (const bytes of frames) mark.frame(bytes);
    mark.read(0);
    mark.look();
  }
  mark.read(0);
}

test("the mark is the smallest frame of two seconds, at most 4 KiB, and falls immediately with a smaller one", () => {
  const { mark, marks } = marked();
  looks(mark, 19, 60_000, 3000);
  expect(marks).toEqual([]);
  looks(mark, 1, 2000);
  expect(marks).toEqual([2000]);
  mark.frame(1500);
  mark.read(0);
  expect(marks).toEqual([2000, 1500]);
  looks(mark, 20, 9000);
  looks(mark, 20, 9000);
  expect(marks).toEqual([2000, 1500, 4096]);
});

test("within a message the mark is its rest, so that its end wakes the reader", () => {
  const { mark, marks } = marked();
  mark.read(5000);
  expect(marks).toEqual([]);
  looks(mark, 20, 3000);
  for (const missing of [100_000, 700, 700, 0]) mark.read(missing);
  expect(marks).toEqual([3000, 16_384, 700, 3000]);
});

test("an interval without a frame resets the mark to 1 for another two seconds of frames", () => {
  const { mark, marks } = marked();
  looks(mark, 20, 3000);
  mark.look();
  expect(marks).toEqual([3000, 1]);
  looks(mark, 19, 3000);
  expect(marks).toEqual([3000, 1]);
  looks(mark, 1, 3000);
  expect(marks).toEqual([3000, 1, 3000]);
});

test.each([
  ["sound alone", []],
  ["frames as short as sound", [300, 8000]],
])("with %s every byte wakes the reader", (_, frames) => {
  const { mark, marks } = marked();
  looks(mark, 100, ...frames);
  expect(marks).toEqual([]);
});

const frameOf = (bytes: number) => avcFrame(nal(0x41, ...new Array<number>(bytes).fill(7)));

/** A publisher whose video has arrived for two seconds. */
async function steadyPublisher(server: RtmpTestServer): Promise<RtmpTestClient> {
  const { client } = await RtmpTestClient.publish(server.port, "Right-Key");
  client.message(MESSAGE.video, avcConfig());
  client.message(MESSAGE.audio, aacConfig());
  client.message(MESSAGE.video, avcKeyframe(nal(0x65, ...new Array<number>(2000).fill(7))));
  for (let nth = 1; nth <= 22; nth++) {
    client.message(MESSAGE.video, frameOf(1000), nth * LOOK_MS);
    await expect.poll(() => server.publication.packets, { interval: 1 }).toHaveLength(nth + 1);
    server.clock.advance(LOOK_MS);
  }
  return client;
}

/** Everything sent before has arrived once the server has answered another client. */
const roundTrip = ({ port }: RtmpTestServer) => RtmpTestClient.publish(port, "Unknown-Key");

test.runIf(process.platform === "linux")("audio is read with the next frame", async () => {
  await using server = await RtmpTestServer.start();
  const client = await steadyPublisher(server);
  const before = server.publication.packets.length;
  client.message(MESSAGE.audio, aacFrame());
  await roundTrip(server);
  expect(server.publication.packets).toHaveLength(before);
  client.message(MESSAGE.video, frameOf(1000), 2300);
  await expect.poll(() => server.publication.packets).toHaveLength(before + 2);
});

test("the end of a fragmented frame is read as it arrives", async () => {
  await using server = await RtmpTestServer.start();
  const client = await steadyPublisher(server);
  const before = server.publication.packets.length;
  const sent: Uint8Array[] = [];
  Object.assign(client, { send: (bytes: Uint8Array) => sent.push(bytes) });
  client.message(MESSAGE.video, frameOf(2000), 2300);
  const bytes = Buffer.concat(sent);
  client.socket.write(bytes.subarray(0, -20));
  await roundTrip(server);
  client.socket.write(bytes.subarray(-20));
  await expect.poll(() => server.publication.packets).toHaveLength(before + 1);
});

test.each([
  ["sound without video", (client: RtmpTestClient) => client.message(MESSAGE.audio, aacFrame())],
  ["the end of the stream", (client: RtmpTestClient) => client.command(1, "deleteStream", 6, null)],
])("%s waits for at most two intervals", async (_, send) => {
  await using server = await RtmpTestServer.start();
  const client = await steadyPublisher(server);
  const { packets, ends } = server.publication;
  const before = packets.length;
  send(client);
  server.clock.advance(2 * LOOK_MS);
  await expect.poll(() => packets.length + ends.length).toBe(before + 1);
});

test("a publisher that closes is removed immediately", async () => {
  await using server = await RtmpTestServer.start();
  const client = await steadyPublisher(server);
  client.message(MESSAGE.audio, aacFrame());
  const before = server.publication.packets.length;
  client.socket.end();
  await expect.poll(() => server.publication.ends).toMatchObject([{ why: "source-lost" }]);
  expect(server.publication.packets).toHaveLength(before + 1);
});
