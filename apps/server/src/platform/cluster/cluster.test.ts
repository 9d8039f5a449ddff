import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TrustedProxies } from "../http/trusted-proxies.ts";
import { Listener } from "../listener.ts";
import { silentLog } from "../log.ts";
import { ManualClock } from "../manual-clock-rig.ts";
import { makeTestFolder } from "../test-folder-rig.ts";
import { writeLocalAddress } from "./cluster-address.ts";
import { ClusterSeal } from "./cluster-seal.ts";
import { ClusterServer, type Forwarded, type ForwardedHandler } from "./cluster-server.ts";
import { type ForwardOptions, OtherNodes } from "./other-nodes.ts";

const closing: (() => void | Promise<void>)[] = [];
let clock: ManualClock;
let keys: Uint8Array[];

beforeEach(() => {
  clock = new ManualClock(1_000_000);
  keys = [Buffer.alloc(32, 1)];
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const sealOf = async (id: string, readKeys = async (): Promise<readonly Uint8Array[]> => keys) => {
  const seal = new ClusterSeal({ clock, nodeId: () => id, readKeys });
  await seal.open();
  return seal;
};

/** A node that others ask. */
async function owner(handler: ForwardedHandler, id = "owner") {
  const listener = new Listener("cluster", "127.0.0.1", 0);
  const proxies = new TrustedProxies([]);
  const seal = await sealOf(id);
  const server = await ClusterServer.open({ listener, seal, proxies, clock, log: silentLog });
  closing.push(() => server.close());
  server.serve({
    forwarded: handler,
    live: (_url, res) => void res.end(),
    moved: (told, res) => void res.end(told),
    sent: (_told, res) => void res.end(),
    viewers: (_told, res) => void res.end(),
  });
  return { nodeId: id, address: `127.0.0.1:${listener.port}`, proxies, server };
}

/** A node that viewers ask, which has everything answered by `to`. */
async function asked(to: { readonly nodeId: string; readonly address: string }, options?: ForwardOptions) {
  const proxies = new TrustedProxies(["127.0.0.1"]);
  const seal = await sealOf("asked");
  const findAddress = async (id: string) => (id === to.nodeId ? to.address : null);
  const self = { nodeId: () => "asked", address: () => "127.0.0.1:9", findMedia: async () => [] };
  const others = new OtherNodes({ seal, ...self, findAddress, proxies, clock, log: silentLog });
  const outcomes: string[] = [];
  const server = createServer({ maxHeaderSize: 24 * 1024 }, async (req, res) => {
    outcomes.push(await others.send(req, res, to, { admitted: "admission", ...options }));
    if (!res.headersSent) res.writeHead(503).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    others.close();
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, others, outcomes };
}

test("the owner gets the viewer's request as it was, without credentials, and the viewer its whole answer", async () => {
  let seen: { req: IncomingMessage; forwarded: Forwarded } | null = null;
  const to = await owner((req, res, forwarded) => {
    seen = { req, forwarded };
    res.writeHead(206, ["content-type", "video/mp4", "link", "<a>", "link", "<b>"]).end("part");
  });
  const { url } = await asked(to);
  const headers = {
    range: "bytes=0-3",
    authorization: "Bearer secret",
    cookie: "session=secret",
    "x-forwarded-for": "203.0.113.9",
    "x-forwarded-host": "video.example.com",
    "x-forwarded-proto": "https",
    "weir-admitted": "forged",
  };
  const answer = await fetch(`${url}/hls/abc/7.m4s?_HLS_msn=1`, { headers });
  expect([answer.status, await answer.text(), answer.headers.get("link")]).toEqual([206, "part", "<a>, <b>"]);
  const { req, forwarded } = seen as unknown as { req: IncomingMessage; forwarded: Forwarded };
  expect(req.url).toBe("/hls/abc/7.m4s?_HLS_msn=1");
  expect(forwarded.admitted).toBe("admission");
  expect([req.headers.range, req.headers.authorization, req.headers.cookie]).toEqual([
    "bytes=0-3",
    undefined,
    undefined,
  ]);
  expect(to.proxies.addressOf(req)).toBe("203.0.113.9");
  expect(to.proxies.hostOf(req)).toBe("video.example.com");
  expect(to.proxies.isSecure(req)).toBe(true);
  expect(to.proxies.connectionOf(req)).toBe(null);
});

test("bodies arrive: one that was read, with its hash, and one that still arrives", async () => {
  const handler: ForwardedHandler = (req, res, { body }) =>
    void (body ? Promise.resolve(body.toString()) : text(req)).then((sent) =>
      res.end(`${body ? "read" : "streamed"} ${sent}`),
    );
  const to = await owner(handler);
  const post = async (url: string) => (await fetch(url, { method: "POST", body: "offer" })).text();
  expect(await post((await asked(to, { body: Buffer.from("offer") })).url)).toBe("read offer");
  expect(await post((await asked(to)).url)).toBe("streamed offer");
});

/** Status of a request that a stranger or an old node sends. */
async function statusOf(address: string, method: string, path: string, headers: Record<string, string>, body = "") {
  const [host, port] = address.split(":");
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ host, port, method, path, headers }, resolve).on("error", reject).end(body);
  });
  answer.resume();
  return answer.statusCode;
}

test("a wrong, an old and a foreign seal get 403, as do another path, header, body and a repeated change", async () => {
  let answered = 0;
  const to = await owner((_req: IncomingMessage, res: ServerResponse) => {
    answered++;
    res.end();
  });
  const seal = await sealOf("other");
  const path = "/cluster/v1/forward/hls/abc";
  const get = (headers: Record<string, string>, at = path) => statusOf(to.address, "GET", at, headers);
  const good = seal.sign("GET", path, { "weir-admitted": "a" });
  expect(await get(good)).toBe(200);
  expect(await get({})).toBe(403);
  expect(await get({ ...good, authorization: good.authorization?.replace(/.$/, "-") ?? "" })).toBe(403);
  expect(await get(good, `${path}d`)).toBe(403);
  expect(await get({ ...good, "weir-admitted": "b" })).toBe(403);
  expect(await get({ ...good, "weir-viewer": "203.0.113.9" })).toBe(403);
  expect(await statusOf(to.address, "HEAD", path, good)).toBe(403);
  const foreign = await sealOf("other", async () => [Buffer.alloc(32, 9)]);
  expect(await get(foreign.sign("GET", path, {}))).toBe(403);

  const change = seal.sign("DELETE", path, {});
  expect(await statusOf(to.address, "DELETE", path, change)).toBe(200);
  expect(await statusOf(to.address, "DELETE", path, change)).toBe(403);
  const offer = seal.sign("POST", path, {});
  expect(await statusOf(to.address, "POST", path, { ...offer, "content-length": "5" }, "wrong")).toBe(403);

  clock.advance(61_000);
  expect(await get(good)).toBe(403);
  expect(answered).toBe(2);
});

test("a key that was added is accepted before every node uses it", async () => {
  const to = await owner((_req, res) => void res.end());
  const path = "/cluster/v1/forward/hls/abc";
  keys = [Buffer.alloc(32, 2), Buffer.alloc(32, 1)];
  const newer = await sealOf("newer");
  clock.advance(2_000);
  expect(await statusOf(to.address, "GET", path, newer.sign("GET", path, {}))).toBe(200);
});

test("a node that answers nothing holds 1,000 requests, and the next is refused at once: none waits for a connection", async () => {
  let held = 0;
  const to = await owner(() => void held++);
  const { url, outcomes } = await asked(to);
  const ask = (nth: number) => {
    const headers = { "x-forwarded-for": `203.0.${nth >> 8}.${nth & 255}` };
    const viewer = request(url, { agent: false, headers }).on("error", () => {});
    closing.push(() => void viewer.destroy());
    viewer.end();
  };
  for (let nth = 0; nth < 1_000; nth++) ask(nth);
  await expect.poll(() => held, { timeout: 20_000 }).toBe(1_000);
  ask(1_000);
  await expect.poll(() => outcomes).toEqual(["full"]);
  to.server.server.closeAllConnections();
});

test("a request whose token is in its address and in its admission arrives, also with a long referrer", async () => {
  const token = "t".repeat(11 * 1024);
  let admitted: string | null = null;
  const to = await owner((_req, res, forwarded) => {
    admitted = forwarded.admitted;
    res.end("list");
  });
  const { url } = await asked(to, { admitted: token });
  const answer = await fetch(`${url}/hls/abc/s/${token}/index.m3u8`, { headers: { referer: "r".repeat(4 * 1024) } });
  expect([answer.status, await answer.text(), admitted]).toEqual([200, "list", token]);
});

test("a node that is away fails the request, and one that leaves in the middle ends the answer", async () => {
  const { server, ...to } = await owner((_req, res) => {
    res.writeHead(200, { "content-length": "10" }).write("half");
    setImmediate(() => res.destroy());
  });
  const viewer = await asked(to);
  await expect(fetch(viewer.url).then((answer) => answer.text())).rejects.toThrow();
  await server.close();
  expect((await fetch(viewer.url)).status).toBe(503);
  await expect.poll(() => viewer.outcomes).toEqual(["answered", "failed"]);
  await expect.poll(() => viewer.others.underWay).toBe(0);
});

test("an upload may take as long as its client does, and a node that has all of it must answer in time", async () => {
  let begun = 0;
  const to = await owner((req, res) => {
    begun++;
    void text(req).then((sent) => sent !== "never" && res.end(sent));
  });
  const { url } = await asked(to);
  const upload = async (first: string, second: string) => {
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>();
    const before = begun;
    const sending = request(url, { method: "PATCH" }, resolve);
    sending.write(first);
    await expect.poll(() => begun).toBeGreaterThan(before);
    clock.advance(120_000);
    sending.end(second);
    return promise;
  };
  expect(await text(await upload("slow ", "file"))).toBe("slow file");
  const late = upload("ne", "ver");
  const given = { isOver: false };
  void late.then(() => {
    given.isOver = true;
  });
  await expect
    .poll(() => {
      clock.advance(5_000);
      return given.isOver;
    })
    .toBe(true);
  expect((await late).statusCode).toBe(503);
});

test("what a stream's begin has told counts before what the database said", async () => {
  const { others } = await asked({ nodeId: "owner", address: "127.0.0.1:1" });
  const [old, now] = ["old", "now"].map((nodeId) => ({ nodeId, address: "127.0.0.1:2" }));
  expect(others.placeOf("stream", undefined)).toBe(null);
  expect(others.placeOf("stream", old)).toEqual(old);
  others.moved("stream", now as { nodeId: string; address: string });
  expect(others.placeOf("stream", old)).toEqual(now);
  others.moved("stream", { nodeId: "asked", address: "127.0.0.1:3" });
  expect(others.placeOf("stream", old)).toBe(null);
});

test("a node is told something once, with a body whose hash is sealed", async () => {
  const { proxies: _proxies, server: _server, ...to } = await owner((_req, res) => void res.end());
  const { others } = await asked(to);
  const { signal } = new AbortController();
  const answer = await others.tell(to, "/moved", { streamId: "stream-1" }, signal);
  expect(await text(answer)).toBe('{"streamId":"stream-1"}');
  const other = await others.tell(to, "/unknown", {}, signal);
  other.resume();
  expect(other.statusCode).toBe(404);
  const seal = await sealOf("other");
  const { "weir-nonce": _nonce, ...without } = seal.sign("POST", "/cluster/v1/moved", {});
  expect(await statusOf(to.address, "POST", "/cluster/v1/moved", without)).toBe(403);
});

/** Something that accepts connections, says this and no more; on a Unix socket if there is a path. */
async function stranger(says: string, path = ""): Promise<{ readonly nodeId: string; readonly address: string }> {
  const server = createTcpServer((socket) => void socket.on("error", () => {}).end(says));
  await new Promise<void>((resolve) => server.listen(path ? { path } : { port: 0, host: "127.0.0.1" }, resolve));
  closing.push(() => void server.close());
  const address = path ? writeLocalAddress(path) : `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { nodeId: "stranger", address };
}

test("an answer that lasts is read as it comes, until its end or the reader's; what is none is an error", async () => {
  const sent = Array.from({ length: 40 }, (_, nth) => Buffer.alloc(nth * 10_000, nth));
  const listener = new Listener("cluster", "127.0.0.1", 0);
  const seal = await sealOf("owner");
  const proxies = new TrustedProxies([]);
  const server = await ClusterServer.open({ listener, seal, proxies, clock, log: silentLog });
  closing.push(() => server.server.closeAllConnections());
  server.serve({
    forwarded: (_req, res) => void res.end(),
    live: (url, res) => {
      if (url === "/live/silent") return;
      if (url === "/live/none") return void res.writeHead(404, { "content-length": "0" }).end();
      res.writeHead(200);
      for (const bytes of sent) res.write(bytes);
      if (url === "/live/ends") res.end();
    },
    moved: (_told, res) => void res.end(),
    sent: (_told, res) => void res.end(),
    viewers: (_told, res) => void res.end(),
  });
  const owner = { nodeId: "owner", address: `127.0.0.1:${listener.port}` };
  const { others } = await asked(owner);
  const length = sent.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const read = (to: typeof owner, path: string, isEnough: (bytes: number) => boolean = () => false) => {
    const came: Buffer[] = [];
    let bytes = 0;
    const asking = new AbortController();
    const ended = others.read(
      to,
      path,
      (piece) => {
        came.push(Buffer.from(piece));
        bytes += piece.byteLength;
        if (isEnough(bytes)) asking.abort();
      },
      asking.signal,
    );
    return { came, ended };
  };
  const whole = read(owner, "/live/ends");
  expect(await whole.ended).toBe(200);
  expect(Buffer.concat(whole.came).equals(Buffer.concat(sent))).toBe(true);
  const none = read(owner, "/live/none");
  expect([await none.ended, none.came]).toEqual([404, []]);
  const left = read(owner, "/live/goes-on", (bytes) => bytes === length);
  await expect(left.ended).rejects.toThrow("aborted");
  expect(Buffer.concat(left.came).byteLength).toBe(length);
  await expect(read(await stranger("hello\r\n\r\n"), "/live/x").ended).rejects.toThrow("not one of HTTP");
  await expect(read(await stranger("x".repeat(20_000)), "/live/x").ended).rejects.toThrow("not one of HTTP");
  await expect(read(await stranger("HTTP/1.1 200 OK\r\n"), "/live/x").ended).rejects.toThrow("closed the connection");
  const local = read(
    await stranger("HTTP/1.1 200 OK\r\n\r\nhere", join(makeTestFolder("cluster"), "x.sock")),
    "/live/x",
  );
  expect([await local.ended, Buffer.concat(local.came).toString()]).toEqual([200, "here"]);
  const silent = read(owner, "/live/silent").ended;
  clock.advance(2_000);
  await expect(silent).rejects.toThrow("does not answer");
});
