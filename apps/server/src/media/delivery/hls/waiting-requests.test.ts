import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MediaRig } from "../../testing/media-rig.ts";

let rig: MediaRig;
const source = "/hls/playstream1/s/-/session-1/source";
const sockets: Socket[] = [];

beforeEach(async () => {
  rig = await MediaRig.open();
  const { publication } = rig.publish();
  await rig.send(publication, { seconds: 3 });
  goOn = () => rig.send(publication, { seconds: 2, clockAt: 3 });
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await rig[Symbol.asyncDispose]();
});

let goOn: () => Promise<void>;

/** Sends all paths at once without waiting for responses, and records the responses. */
async function pipeline(paths: readonly string[]): Promise<{ socket: Socket; answers: () => string }> {
  const { port } = new URL(rig.url("/"));
  const socket = connect(Number(port), "127.0.0.1");
  sockets.push(socket);
  let answers = "";
  socket.on("data", (bytes) => {
    answers += bytes;
  });
  await once(socket, "connect");
  const heads = "Host: a\r\nX-Forwarded-For: 203.0.113.66\r\n\r\n";
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\n${heads}`).join(""));
  return { socket, answers: () => answers };
}

/** Three target durations. */
const MAX_WAIT_MS = 6_000;

function waitingAfterALook(): number {
  rig.clock.advance(250);
  return rig.plane.figures.waitingRequests;
}

const statuses = (answers: string) => answers.match(/(?<=HTTP\/1\.1 )\d{3}/g) ?? [];
const settled = () => rig.text(`${source}/index.m3u8`);

test("500 blocking requests on one connection do not disturb another client's blocking request", async () => {
  const blocked = `${source}/index.m3u8?_HLS_msn=2&_HLS_part=4`;
  const { answers } = await pipeline(new Array(500).fill(blocked));
  await settled();
  let isAnswered = false;
  const mine = rig.text(blocked).then((text) => {
    isAnswered = true;
    return text;
  });
  await expect.poll(() => rig.plane.figures.waitingRequests).toBe(2);
  await settled();
  expect([isAnswered, rig.plane.figures.waitingRequests]).toEqual([false, 2]);
  await goOn();
  expect(await mine).toContain('URI="2.4.m4s"');
  await expect.poll(() => statuses(answers())).toHaveLength(500);
  expect(new Set(statuses(answers()))).toEqual(new Set(["200"]));
});

test("a viewer who leaves while waiting releases the slot", async () => {
  const blocked = `${source}/index.m3u8?_HLS_msn=2&_HLS_part=4`;
  for (let round = 0; round < 3; round++) {
    const { socket } = await pipeline([blocked]);
    await expect.poll(() => rig.plane.figures.waitingRequests).toBe(1);
    socket.destroy();
    const leftAt = rig.clock.monotonic();
    await expect.poll(waitingAfterALook).toBe(0);
    expect(rig.clock.monotonic() - leftAt).toBeLessThan(MAX_WAIT_MS);
  }
});
