import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../clock.ts";
import { Listener } from "../listener.ts";
import { silentLog } from "../log.ts";
import { createApp } from "./app.ts";
import { createHttpServer, type HttpServer } from "./http-server.ts";

let http: HttpServer;
const mediaPrefixes = ["/hls/"];

const deadlines = vi.fn(systemClock.after);
const clock = { ...systemClock, after: deadlines };

function open(port = 0): Promise<HttpServer> {
  const app = createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "" });
  app.get("/app", async () => ({ from: "app" }));
  app.post("/app", async ({ body }) => ({ body: body ?? null }));
  return createHttpServer({
    listener: new Listener("HTTP", "127.0.0.1", port),
    mediaPrefixes,
    media: (request, response) => response.end(`media ${request.url}`),
    app,
    clock,
  });
}

beforeEach(async () => {
  deadlines.mockClear();
  http = await open();
});

afterEach(() => http.close());

const get = async (path: string) => (await fetch(`http://127.0.0.1:${http.port}${path}`)).text();

async function send(bytes: string): Promise<string> {
  const socket: Socket = connect(http.port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(bytes);
  return text(socket);
}

test("one port answers media by the bare handler and everything else by the app", async () => {
  expect(await get("/hls/abc/index.m3u8?x=1")).toBe("media /hls/abc/index.m3u8?x=1");
  expect(await get("/app")).toBe('{"from":"app"}');
  expect(await get("/hlsx")).toContain('"code":"unknown-path"');
});

test.each([
  ["a content type without a body", "Content-Type: application/json\r\n\r\n", '{"body":null}'],
  ["an empty body", "Content-Type: application/json\r\nContent-Length: 0\r\n\r\n", '{"body":null}'],
  ["nothing at all", "\r\n", '{"body":null}'],
  ["a body", "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n[]", '{"body":[]}'],
])("a POST with %s is answered", async (_situation, rest, body) => {
  expect(await send(`POST /app HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${rest}`)).toContain(body);
});

test("only a request with a body has a deadline of its own, which thousands of viewers would hold for half a minute", async () => {
  await get("/hls/abc/index.m3u8");
  expect(deadlines).not.toHaveBeenCalled();
  await fetch(`http://127.0.0.1:${http.port}/app`, { method: "POST", body: "x" });
  expect(deadlines).toHaveBeenCalledOnce();
});

test("a port that is in use is one line that names the setting", async () => {
  await expect(open(http.port)).rejects.toThrow(
    `HTTP port ${http.port} on 127.0.0.1 is in use by another program: end it or set WEIR_HTTP_PORT`,
  );
});

test.each([
  ["bytes that are no HTTP", "\x16\x03\x01\x02\0\r\n\r\n", "400"],
  [
    "both length and chunks",
    "POST /app HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "400",
  ],
  ["25 KB of headers", `GET /app HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(25 * 1024)}\r\n\r\n`, "431"],
])("%s: an error and the end of the connection", async (_situation, bytes, status) => {
  const answer = await send(bytes);
  expect(answer.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
  expect(answer).toContain("Connection: close");
});

test("a head that comes too slowly is cut off as a whole", async () => {
  http.server.headersTimeout = 100;
  http.server.requestTimeout = 150;
  const socket = connect(http.port, "127.0.0.1");
  await once(socket, "connect");
  const dribble = systemClock.every(50, () => socket.writable && socket.write("X: y\r\n"));
  socket.on("error", () => {});
  socket.write("GET /app HTTP/1.1\r\n");
  const answer = await text(socket).catch(() => "");
  dribble.cancel();
  expect(answer).toContain("408 Request Timeout");
});

test("closing cuts what still hangs on after a second", async () => {
  const socket = connect(http.port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => {}).resume();
  socket.write("POST /app HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
  const closed = once(socket, "close");
  await http.close();
  await closed;
  await expect(get("/app")).rejects.toThrow();
});
