import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../clock.ts";
import { Outbound, type OutboundPost, type OutboundRequest, type OutboundSettings } from "./outbound.ts";

const cleanup: (() => unknown)[] = [];
afterEach(() => Promise.all(cleanup.splice(0).map((close) => close())));

const settings: OutboundSettings = {
  clock: systemClock,
  allowPrivate: true,
  own: () => ({ ports: [], publicUrl: "http://localhost:8080" }),
};
const outbound = new Outbound(settings);
const wanted = (url: string, more: Partial<OutboundPost> = {}): OutboundPost => {
  return { url, body: '{"a":"ü"}', headers: {}, timeoutMs: 5_000, maxResponseBytes: 1024, ...more };
};

async function receive(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** A server that does with the connection what an HTTP server never would. */
async function behave(how: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    how(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it("posts the body as it is and gives status and body of the answer", async () => {
  let got = "";
  const url = await receive(async (request, response) => {
    got = `${request.method} ${request.headers["x-a"]} ${Buffer.concat(await request.toArray())}`;
    response.writeHead(202).end("thanks");
  });
  const answer = await outbound.post(wanted(url, { headers: { "x-a": "b" } }));
  expect(answer).toMatchObject({ ok: true, status: 202, statusText: "Accepted", body: Buffer.from("thanks") });
  expect(got).toBe('POST b {"a":"ü"}');
});

it("of a status text control characters and what is too long are left out", async () => {
  const url = await behave((socket) =>
    socket.once("data", () => socket.end(`HTTP/1.1 500 O\0\x1bK${"x".repeat(1000)}\r\ncontent-length: 0\r\n\r\n`)),
  );
  expect(await outbound.post(wanted(url))).toMatchObject({ status: 500, statusText: `OK${"x".repeat(98)}` });
});

it.each([
  ["closed", "content-length: 100\r\n\r\nabc"],
  ["broken", "transfer-encoding: chunked\r\n\r\n3\r\nabc\r\nno size\r\n"],
])("a connection that is %s in the middle of the body has answered with its status", async (_how, rest) => {
  const url = await behave((socket) => socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\n${rest}`)));
  expect(await outbound.post(wanted(url))).toMatchObject({ ok: true, status: 200, body: Buffer.from("abc") });
});

it("a redirect is an answer like any other", async () => {
  const url = await receive((_request, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end());
  expect(await outbound.post(wanted(url))).toMatchObject({ ok: true, status: 302 });
});

it("reads no more of an endless body than asked for, and nothing of one that is not wanted", async () => {
  const url = await receive((_request, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, "x")));
    };
    response.on("drain", more);
    more();
  });
  const [some, none] = await Promise.all([0, 1].map((n) => outbound.post(wanted(url, { maxResponseBytes: n * 1024 }))));
  expect([some?.ok && some.body.length, none?.ok && none.body.length]).toEqual([0, 1024]);
});

it("a body that trickles is what came of it before the deadline", async () => {
  const url = await receive((_request, response) => {
    response.writeHead(200).write("begun");
  });
  expect(await outbound.post(wanted(url, { timeoutMs: 200 }))).toMatchObject({
    ok: true,
    status: 200,
    body: Buffer.from("begun"),
  });
});

it.each([
  ["nothing", (_socket: Socket) => {}],
  ["half a status line", (socket: Socket) => void socket.write("HTTP/1.1 2")],
])("a server that says %s runs into the deadline", async (_what, how) => {
  const url = await behave(how);
  const answer = await outbound.post(wanted(url, { timeoutMs: 200 }));
  expect(answer).toMatchObject({ ok: false, reason: "timeout", message: "no answer within 0.2 s" });
});

it.each([
  ["resets", (socket: Socket) => void socket.resetAndDestroy()],
  ["hangs up", (socket: Socket) => void socket.end()],
  ["does not speak HTTP", (socket: Socket) => void socket.end("SSH-2.0-x\r\n")],
  ["sends endless headers", (socket: Socket) => void socket.write(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(10_000)}`)],
])("a server that %s is a network error that names no address", async (_what, how) => {
  const answer = await outbound.post(wanted(await behave(how)));
  expect(answer).toMatchObject({ ok: false, reason: "network" });
  expect(JSON.stringify(answer)).not.toContain("127.0.0.1");
});

it("a server that wants another protocol has answered", async () => {
  const url = await behave(
    (socket) => void socket.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
  );
  expect(await outbound.post(wanted(url))).toMatchObject({ ok: true, status: 101, statusText: "Switching Protocols" });
});

it("an unknown host is a network error", async () => {
  const lost = new Outbound({
    ...settings,
    resolve: () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" })),
  });
  expect(await lost.post(wanted("http://nowhere.example/"))).toMatchObject({
    ok: false,
    reason: "network",
    message: "the host name is not known",
  });
});

it("a name with one public and one private address is refused, and nothing is connected to", async () => {
  let calls = 0;
  const url = new URL(await receive((_request, response) => response.end(String(calls++))));
  url.hostname = "both.example";
  const strict = new Outbound({ ...settings, allowPrivate: false, resolve: async () => ["8.8.8.8", "127.0.0.1"] });
  expect(await strict.post(wanted(String(url)))).toMatchObject({
    ok: false,
    reason: "refused",
    message: expect.stringContaining("WEIR_ALLOW_PRIVATE_URLS=1"),
  });
  expect(calls).toBe(0);
});

it("the address that was checked is the one connected to, whatever the name says a moment later", async () => {
  const url = new URL(await receive((_request, response) => response.end()));
  url.hostname = "changing.example";
  const answers = [["127.0.0.1"], ["10.0.0.1"]];
  let looked = 0;
  const pinned = new Outbound({ ...settings, resolve: async () => answers[looked++] ?? [] });
  expect(await pinned.post(wanted(String(url)))).toMatchObject({ ok: true, status: 200 });
  expect(looked).toBe(1);
});

it("our own listener is refused by number and by name, in a closed network too", async () => {
  const url = new URL(await receive((_request, response) => response.end()));
  const ports = [Number(url.port)];
  const self = new Outbound({
    ...settings,
    own: () => ({ ports, publicUrl: "http://localhost:8080" }),
    resolve: async () => ["127.0.0.1"],
  });
  expect(self.refusalOf(String(url))).toBe("it leads back to this server");
  url.hostname = "alias.example";
  expect(await self.post(wanted(String(url)))).toMatchObject({
    reason: "refused",
    message: "it leads back to this server",
  });
  expect(self.refusalOf("http://localhost:8080/api/webhook")).toBe("it leads back to this server");
  for (const name of ["localhost", "LocalHost", "a.localhost", "localhost.localdomain", "ip6-localhost"]) {
    expect([name, self.refusalOf(`http://${name}:${ports[0]}/`)]).toEqual([name, "it leads back to this server"]);
    expect([name, self.refusalOf(`http://${name}:9100/`)]).toEqual([name, null]);
  }
});

/** A PUT of these chunks. */
const streamed = (url: string, chunks: AsyncIterable<Uint8Array>, bytes: number): OutboundRequest => {
  const body = { bytes, chunks };
  return { method: "PUT", url, headers: {}, body, timeoutMs: 300, signal: new AbortController().signal };
};

async function* repeated(count: number, chunk: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let n = 0; n < count; n++) yield chunk;
}

it("a streamed body arrives whole, with its length announced", async () => {
  const got = Promise.withResolvers<[string | undefined, string | undefined, number]>();
  const url = await receive(async (request, response) => {
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) bytes += chunk.length;
    got.resolve([request.headers["content-length"], request.headers["transfer-encoding"], bytes]);
    response.writeHead(204).end();
  });
  const answer = await outbound.send(streamed(url, repeated(64, Buffer.alloc(65_536)), 4_194_304));
  expect(answer).toMatchObject({ ok: true, status: 204 });
  expect(await got.promise).toEqual(["4194304", undefined, 4_194_304]);
});

it("a receiver that takes each chunk in time has longer than the deadline in all", async () => {
  const url = await receive((request, response) => request.resume().once("end", () => response.end()));
  const slow = async function* () {
    for (let n = 0; n < 5; n++) {
      yield Buffer.alloc(1000);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  expect(await outbound.send(streamed(url, slow(), 5000))).toMatchObject({ ok: true, status: 200 });
});

it("a receiver that stops reading a streamed body runs into the deadline", async () => {
  const stuck = await behave((socket) => void socket.pause());
  const endless = repeated(10_000, Buffer.alloc(65_536));
  expect(await outbound.send(streamed(stuck, endless, 10_000 * 65_536))).toMatchObject({
    ok: false,
    reason: "timeout",
  });
  // The stream is let go of.
  await expect.poll(async () => (await endless.next()).done).toBe(true);
});

it("a receiver may answer before it has the whole body", async () => {
  const url = await receive((request, response) => {
    response.writeHead(403).end();
    request.resume();
  });
  const endless = repeated(1_000, Buffer.alloc(65_536));
  const answer = await outbound.send(streamed(url, endless, 1_000 * 65_536));
  if (!answer.ok) throw new Error(answer.message);
  answer.response.destroy();
  expect(answer.status).toBe(403);
});

it.each([
  ["fails", () => Promise.reject(new Error("the disk is gone")), "the disk is gone"],
  ["is shorter than announced", async () => {}, "not the 9 bytes"],
])("a streamed body that %s is the sender's error, and no complete request", async (_how, end, message) => {
  let isWhole = false;
  const url = await receive((request, response) =>
    request
      .on("error", () => {})
      .resume()
      .once("end", () => {
        isWhole = true;
        response.end();
      }),
  );
  const chunks = async function* () {
    yield Buffer.from("12345");
    await end();
  };
  await expect(outbound.send(streamed(url, chunks(), 9))).rejects.toThrow(message);
  expect(isWhole).toBe(false);
});
