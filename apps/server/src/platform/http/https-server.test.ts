import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type ClientHttp2Session, connect } from "node:http2";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { Listener } from "../listener.ts";
import { silentLog } from "../log.ts";
import { ManualClock } from "../manual-clock-rig.ts";
import { createApp } from "./app.ts";
import { FIRST, RENEWED } from "./certificate.fixture.ts";
import { createHttpServer } from "./http-server.ts";
import { createHttpsServer } from "./https-server.ts";
import { TlsFiles } from "./tls-files.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function open() {
  const folder = await mkdtemp(join(tmpdir(), "weir-tls-"));
  closing.push(() => rm(folder, { recursive: true }));
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const write = async (identity: { cert: string; key: string }) => {
    await writeFile(cert, identity.cert);
    await writeFile(key, identity.key);
  };
  await write(FIRST);
  const clock = new ManualClock();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const app = createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "" });
  app.post("/app", async ({ body, protocol, host }) => ({ body, protocol, host }));
  const server = await createHttpsServer({
    listener: new Listener("HTTPS", "127.0.0.1", 0),
    app,
    clock,
    mediaPrefixes: ["/hls/"],
    tls: await TlsFiles.open({ cert, key, clock, log: silentLog }),
    media: (req, res) => {
      if (req.url === "/hls/never") return begin();
      res.writeHead(200, ["content-type", "text/plain", "x-seen", String(req.headersDistinct["x-two"])]);
      res.end(`${req.method} ${req.url} ${req.headers.host} ${req.complete}`);
    },
  });
  closing.push(() => server.close());
  const session = connect(`https://localhost:${server.port}`, { ca: [FIRST.cert, RENEWED.cert] });
  closing.push(() => session.destroy());
  return { server, session, write, clock, cert, key, begun };
}

async function ask(session: ClientHttp2Session, headers: Record<string, string | string[]>, body = "") {
  const stream = session.request(headers);
  if (body !== "") stream.end(body);
  const [head] = await once(stream, "response");
  return { head, body: await text(stream) };
}

test("media and the app are answered over HTTP/2 as over HTTP/1.1", async () => {
  const { server, session } = await open();
  const host = `localhost:${server.port}`;
  const media = await ask(session, { ":path": "/hls/a?b=c", "x-two": ["1", "2"] });
  expect(media).toMatchObject({ head: { ":status": 200, "x-seen": "1,2" }, body: `GET /hls/a?b=c ${host} true` });
  const json = { ":path": "/app", ":method": "POST", "content-type": "application/json" };
  const posted = await ask(session, json, "[1]");
  expect(JSON.parse(posted.body)).toEqual({ body: [1], protocol: "https", host });
  // This server has other ports, which a browser must not be told to ask by TLS.
  expect(posted.head["strict-transport-security"]).toBeUndefined();
  const old = request({ port: server.port, host: "localhost", path: "/hls/x", ca: FIRST.cert }).end();
  const [response] = await once(old, "response");
  expect([response.httpVersion, await text(response)]).toEqual(["1.1", expect.stringContaining(`GET /hls/x ${host}`)]);
});

test("a request that does not end is given up after 30 s, and the connection goes on", async () => {
  const { session, clock } = await open();
  const stream = session.request({ ":path": "/app", ":method": "POST", "content-type": "application/json" });
  stream.on("error", () => {});
  stream.write("[");
  await ask(session, { ":path": "/hls/a" });
  clock.advance(30_000);
  await once(stream, "close");
  expect((await ask(session, { ":path": "/hls/a" })).head[":status"]).toBe(200);
});

test("HTTP/1.1 over TLS has the limits that it has without", async () => {
  const { server } = await open();
  const withoutTls = await createHttpServer({
    listener: new Listener("HTTP", "127.0.0.1", 0),
    clock: new ManualClock(),
    media: () => {},
    mediaPrefixes: [],
    app: createApp({ log: silentLog, openPrefixes: [], ownOrigin: () => "" }),
  });
  closing.push(() => withoutTls.close());
  const { maxHeadersCount, headersTimeout, requestTimeout, keepAliveTimeout } = withoutTls.server;
  expect(server.server).toMatchObject({ maxHeadersCount, headersTimeout, requestTimeout, keepAliveTimeout });
  const headers = { "x-long": "a".repeat(20 * 1024) };
  const sent = request({ port: server.port, host: "localhost", path: "/hls/x", ca: FIRST.cert, headers }).end();
  const [response] = await once(sent, "response");
  expect(response.statusCode).toBe(200);
});

test("closing gives a response over HTTP/1.1 a second, then closes its connection", async () => {
  const { server, clock, begun } = await open();
  const waiting = request({ port: server.port, host: "localhost", path: "/hls/never", ca: FIRST.cert }).end();
  const failed = once(waiting, "error");
  await begun;
  const closed = server.close();
  clock.advance(1_000);
  await closed;
  expect(String(await failed)).toContain("socket hang up");
});

test("a renewed certificate is shown within ten seconds, and half of one is not", async () => {
  const { server, write, clock, cert } = await open();
  const shown = async () => {
    const socket = connectTls({
      port: server.port,
      host: "127.0.0.1",
      servername: "localhost",
      rejectUnauthorized: false,
    });
    await once(socket, "secureConnect");
    const { subject } = socket.getPeerCertificate();
    socket.destroy();
    return subject.CN;
  };
  expect(await shown()).toBe("localhost");
  await writeFile(cert, RENEWED.cert);
  clock.advance(10_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await shown()).toBe("localhost");
  await write(RENEWED);
  clock.advance(10_000);
  await expect.poll(shown).toBe("renewed");
});

test("files that cannot be used stop the start, with the names of the settings", async () => {
  const { cert, clock } = await open();
  const wrong = TlsFiles.open({ cert, key: "/nowhere/key.pem", clock, log: silentLog });
  await expect(wrong).rejects.toThrow(/WEIR_TLS_CERT and WEIR_TLS_KEY cannot be used: ENOENT/);
});
