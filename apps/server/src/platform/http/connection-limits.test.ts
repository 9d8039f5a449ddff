import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ManualClock } from "../manual-clock-rig.ts";
import { type ConnectionLimits, limitConnections } from "./connection-limits.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

const clock = new ManualClock();
const waiting: ServerResponse[] = [];
let server: Server;
let limits: ConnectionLimits;

async function listen({ inAll = 100, perClient = 100, proxies = [] as string[] } = {}): Promise<void> {
  server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    if (request.url === "/wait") waiting.push(response);
    else response.end("here");
  });
  limits = limitConnections({ servers: [server], clock, proxies: new TrustedProxies(proxies), inAll, perClient });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
}

afterEach(() => {
  server.closeAllConnections();
  server.close();
  waiting.length = 0;
});

async function open(localAddress = "127.0.0.1"): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, localAddress });
  socket.on("error", () => {}).resume();
  await once(socket, "connect");
  return socket;
}

/** A connection that sent one request. Resolves with what came back, which is nothing where it was closed. */
async function ask(socket: Socket, path = "/"): Promise<string> {
  let answer = "";
  socket.on("data", (bytes) => {
    answer += bytes;
  });
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await expect.poll(() => answer !== "" || socket.closed).toBe(true);
  return answer;
}

test("a client that has all of its connections gets no more, and another client is answered", async () => {
  await listen({ perClient: 3 });
  const mine = [await open(), await open(), await open()];
  expect(await ask(await open())).toBe("");
  expect(await ask(await open("127.0.0.2"))).toContain("here");
  expect(limits.refused).toBe(1);
  mine[0]?.destroy();
  await expect.poll(() => limits.open).toBe(3);
  expect(await ask(await open())).toContain("here");
});

test("no client has more than three quarters of all connections", async () => {
  await listen({ inAll: 8, perClient: 1_000 });
  for (let i = 0; i < 6; i++) expect(await ask(await open())).toContain("here");
  expect(await ask(await open())).toBe("");
  expect(await ask(await open("127.0.0.2"))).toContain("here");
});

test("all clients together have as many connections as there are", async () => {
  await listen({ inAll: 4 });
  for (let i = 1; i <= 4; i++) expect(await ask(await open(`127.0.0.${i}`))).toContain("here");
  expect(await ask(await open("127.0.0.5"))).toBe("");
});

test("a trusted proxy, which brings many clients, is held to the limit for all only", async () => {
  await listen({ inAll: 10, perClient: 2, proxies: ["127.0.0.9"] });
  for (let i = 0; i < 8; i++) expect(await ask(await open("127.0.0.9"))).toContain("here");
  expect(await ask(await open())).toContain("here");
});

test("when three quarters are taken, idle connections are closed soon, those with a running request are not", async () => {
  await listen({ inAll: 8, proxies: ["127.0.0.9"] });
  const idle = await open();
  await ask(idle);
  const proxy = await open("127.0.0.9");
  await ask(proxy);
  const busy = await open();
  busy.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  await expect.poll(() => waiting).toHaveLength(1);
  const ofBusy = waiting[0]?.socket as Socket;
  clock.advance(2_000);
  for (let i = 2; i < 5; i++) await open(`127.0.0.${i}`);
  await expect.poll(() => limits.open).toBe(6);
  clock.advance(2_000);
  await once(idle, "close");
  expect(ofBusy.timeout ?? 0).toBe(0);
  expect(proxy.closed || busy.closed).toBe(false);
});
