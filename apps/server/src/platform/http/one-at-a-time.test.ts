import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { oneAtATime } from "./one-at-a-time.ts";

const begun: { url: string; response: ServerResponse }[] = [];
const server = createServer(oneAtATime((request, response) => begun.push({ url: request.url ?? "", response })));

afterEach(() => {
  begun.length = 0;
  server.closeAllConnections();
  server.close();
});

async function open() {
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
  await once(socket, "connect");
  let received = "";
  socket.setEncoding("latin1").on("data", (text) => {
    received += text;
  });
  return {
    socket,
    /** Also after a reset, which is one of the ways to be closed. */
    closed: new Promise<void>((resolve) => socket.once("close", () => resolve())),
    ask: (...paths: string[]) =>
      socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(""), "latin1"),
    bodies: () => received.match(/(?<=\r\n\r\n)\/[a-z]/g),
  };
}

const urls = () => begun.map(({ url }) => url);

test("of requests that do not wait for answers, one is begun when the answer to the last has left, in their order", async () => {
  const { ask, bodies } = await open();
  ask("/a", "/b", "/c");
  await expect.poll(() => urls()).toEqual(["/a"]);
  ask("/d");
  for (const next of [["/a"], ["/a", "/b"], ["/a", "/b", "/c"], ["/a", "/b", "/c", "/d"]]) {
    await expect.poll(() => urls()).toEqual(next);
    begun.at(-1)?.response.end(next.at(-1));
  }
  await expect.poll(() => bodies()).toEqual(["/a", "/b", "/c", "/d"]);
  ask("/e");
  await expect.poll(() => urls()).toHaveLength(5);
});

test("one connection that is busy holds up no other", async () => {
  const [mine, another] = [await open(), await open()];
  mine.ask("/a", "/b");
  another.ask("/c");
  await expect.poll(() => urls().toSorted()).toEqual(["/a", "/c"]);
});

test("what waits on a connection that is closed is never begun", async () => {
  const { socket, ask } = await open();
  ask("/a", "/b");
  await expect.poll(() => urls()).toEqual(["/a"]);
  const left = once(begun[0]?.response ?? server, "close");
  socket.destroy();
  await left;
  expect(urls()).toEqual(["/a"]);
});

test("a connection whose waiting requests take more than 2 MiB is closed, and holds no room of others", async () => {
  for (let connection = 0; connection < 51; connection++) {
    const { closed, ask } = await open();
    ask(...Array.from({ length: 1_002 }, () => "/a"));
    await closed;
  }
  expect(begun).toHaveLength(51);
  const { ask } = await open();
  ask("/b", "/c");
  await expect.poll(() => urls().at(-1)).toBe("/b");
  begun.at(-1)?.response.end();
  await expect.poll(() => urls().at(-1)).toBe("/c");
});

test("long heads count by their length", async () => {
  const { socket, closed } = await open();
  const long = "x".repeat(14_000);
  for (let i = 0; i < 300; i++) socket.write(`GET /a HTTP/1.1\r\nHost: a\r\nCookie: ${long}\r\n\r\n`, "latin1");
  await closed;
  expect(begun).toHaveLength(1);
});
