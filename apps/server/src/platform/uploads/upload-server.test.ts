import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Upload } from "tus-js-client";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { MAX_BYTES, startUploads, tokenOf } from "./upload-test-rig.ts";

const rig = await startUploads();
afterAll(() => rig[Symbol.asyncDispose]());

const TUS = { "tus-resumable": "1.0.0" };
const BYTES = { ...TUS, "content-type": "application/offset+octet-stream" };
const TUS_URL = `${rig.url}/api/asset/upload/tus`;

let id = "";
let uploads = 0;
beforeEach(() => {
  id = `upload-${++uploads}`;
  rig.disk.freeBytes = 2 ** 40;
});

const put = (token: string, body: NonNullable<RequestInit["body"]>, init: RequestInit = {}) =>
  fetch(`${rig.url}/api/asset/upload/direct?token=${token}`, { method: "PUT", body, ...init });

const begin = (length: number | string, token = tokenOf(id), headers: Record<string, string> = {}) =>
  fetch(`${TUS_URL}?token=${token}`, {
    method: "POST",
    headers: { ...TUS, "upload-length": String(length), ...headers },
  });

/** Address of an upload that was just created. */
async function created(length: number): Promise<string> {
  const answer = await begin(length);
  expect(answer.status).toBe(201);
  return new URL(answer.headers.get("location") ?? "", TUS_URL).href;
}

const patch = (url: string, offset: number, body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(url, { method: "PATCH", headers: { ...BYTES, "upload-offset": String(offset), ...headers }, body });

async function offsetOf(url: string): Promise<number> {
  const answer = await fetch(url, { method: "HEAD", headers: TUS });
  expect(answer.status).toBe(200);
  return Number(answer.headers.get("upload-offset"));
}

describe("tus metadata", () => {
  const metadataOf = (text: string, bytes: number) => ({
    "upload-metadata": `names ${Buffer.alloc(((bytes - 6) / 4) * 3, text, "latin1").toString("base64")}`,
  });

  it("of 8 KiB is kept and given back, so that the client can resume", async () => {
    const answer = await begin(10, tokenOf(id), metadataOf("a", 8 * 1024 - 2));
    expect(answer.status).toBe(201);
    expect(await offsetOf(new URL(answer.headers.get("location") ?? "", TUS_URL).href)).toBe(0);
  });

  it.each([
    ["is longer", "a", 8 * 1024 + 2],
    ["would be longer as UTF-8", "\xff", 4 * 1024 - 2],
  ])("that %s is refused, because a client could not read the head of the response", async (_, character, bytes) => {
    const answer = await begin(10, tokenOf(id), metadataOf(character, bytes));
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: "bad-request" }]);
  });
});

describe("one PUT", () => {
  it("brings the file into the object store", async () => {
    const file = randomBytes(300_000);
    expect((await put(tokenOf(id), file)).status).toBe(200);
    await rig.server.settle();
    expect((await rig.stored(id)).equals(file)).toBe(true);
    expect((await readdir(rig.folder)).filter((name) => name.startsWith(`${id}.`))).toEqual([]);
  });

  it.each([
    ["PUT", (token: string) => put(token, "x", { headers: { "content-encoding": "gzip" } })],
    ["tus", (token: string) => begin(1, token, { "content-encoding": "gzip" })],
  ])("that is compressed is refused, and the address may be used again (%s)", async (_protocol, send) => {
    const refused = await send(tokenOf(id));
    expect([refused.status, await refused.json()]).toMatchObject([415, { code: "unsupported-encoding" }]);
    expect((await put(tokenOf(id), "x")).status).toBe(200);
  });

  it("that is refused says why in the form of the API, with a request id; so does tus", async () => {
    for (const answer of [await put("forged", "x"), await begin(1, "forged")]) {
      const { message, ...rest } = (await answer.json()) as Record<string, unknown>;
      const requestId = answer.headers.get("x-request-id");
      const docs = "/docs/errors/forbidden";
      expect([answer.status, rest]).toEqual([403, { errors: [message], code: "forbidden", requestId, docs }]);
    }
  });

  it("by another method is 405, and names the methods", async () => {
    const answer = await fetch(`${rig.url}/api/asset/upload/direct?token=${tokenOf(id)}`, { method: "DELETE" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "PUT, POST, OPTIONS"]);
  });

  it("is refused without a token, with a wrong one, and once the file is there", async () => {
    expect((await fetch(`${rig.url}/api/asset/upload/direct`, { method: "PUT", body: "x" })).status).toBe(401);
    expect((await put("forged", "x")).status).toBe(403);
    expect((await put(tokenOf(id), "x")).status).toBe(200);
    expect((await put(tokenOf(id), "x")).status).toBe(422);
  });

  it("of a file that is too large is refused, by its length or on the way", async () => {
    const declared = await put(tokenOf(id), new Uint8Array(MAX_BYTES + 1));
    expect([declared.status, await declared.json()]).toMatchObject([
      413,
      { errors: [`the file is larger than ${MAX_BYTES} bytes, the most that is taken`], code: "body-too-large" },
    ]);
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `PUT /api/asset/upload/direct?token=${tokenOf(id)} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `100000\r\n${"x".repeat(0x100000)}\r\n`;
    for (let sent = 0; sent <= MAX_BYTES; sent += 0x100000) socket.write(chunk);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /);
    expect(rig.received.has(id)).toBe(false);
  });

  it("that is cut leaves nothing, and may be sent again", async () => {
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.write(
      `PUT /api/asset/upload/direct?token=${tokenOf(id)} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc`,
    );
    await expect.poll(() => rig.server.underWay).toBe(1);
    socket.destroy();
    await expect.poll(() => rig.server.underWay).toBe(0);
    expect(rig.received.has(id)).toBe(false);
    expect((await put(tokenOf(id), "whole")).status).toBe(200);
    expect(rig.received.get(id)).toBe(5);
  });

  it("with a length and chunks at once is refused, and its connection closed", async () => {
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.write(
      `PUT /api/asset/upload/direct?token=${tokenOf(id)} HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
    expect(rig.received.has(id)).toBe(false);
  });

  it("may be sent from any page", async () => {
    const preflight = await fetch(`${rig.url}/api/asset/upload/direct?token=x`, {
      method: "OPTIONS",
      headers: { origin: "https://app.test", "access-control-request-method": "PUT" },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    expect((await put("forged", "x")).headers.get("access-control-allow-origin")).toBe("*");
  });

  it("that stops sending is cut", async () => {
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `PUT /api/asset/upload/direct?token=${tokenOf(id)} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc`,
    );
    await expect.poll(() => rig.server.underWay).toBe(1);
    rig.clock.advance(61_000);
    await expect.poll(() => rig.server.underWay).toBe(0);
    expect(socket.destroyed || socket.readableEnded || (await text(socket)) === "").toBe(true);
  });

  it("takes longer than other requests may", async () => {
    const { port } = new URL(rig.url);
    const socket = connect(Number(port), "127.0.0.1");
    const head = `PUT /api/asset/upload/direct?token=${tokenOf(id)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 60000\r\n\r\n`;
    socket.write(head);
    await expect.poll(() => readdir(rig.folder)).toContain(`${id}.bytes`);
    for (let i = 0; i < 3; i++) {
      socket.write("x".repeat(20_000));
      if (i < 2) {
        expect(await readdir(rig.folder)).toContain(`${id}.bytes`);
        await rig.clock.advance(29_000);
      }
    }
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("tus", () => {
  it("takes the file of an unmodified client in pieces", async () => {
    const file = randomBytes(1_000_000);
    await new Promise<void>((resolve, reject) => {
      new Upload(file, {
        endpoint: `${TUS_URL}?token=${tokenOf(id)}`,
        chunkSize: 300_000,
        metadata: { filename: "a;$(rm).mp4", filetype: "video/mp4" },
        retryDelays: null,
        onSuccess: () => resolve(),
        onError: reject,
      }).start();
    });
    await rig.server.settle();
    expect((await rig.stored(id)).equals(file)).toBe(true);
  });

  it("says what it can", async () => {
    const answer = await fetch(TUS_URL, { method: "OPTIONS" });
    expect(answer.headers.get("tus-extension")).toBe("creation,termination,expiration,checksum");
    expect(answer.headers.get("tus-checksum-algorithm")).toBe("md5,sha1,sha256");
    expect(answer.headers.get("access-control-allow-headers")).toContain("Upload-Checksum");
  });

  it("refuses a wrong offset with 409, and keeps what is there", async () => {
    const url = await created(10);
    expect((await patch(url, 0, Buffer.from("abcd"))).status).toBe(204);
    expect((await patch(url, 0, Buffer.from("zzzz"))).status).toBe(409);
    expect((await patch(url, 7, Buffer.from("zzz"))).status).toBe(409);
    expect(await offsetOf(url)).toBe(4);
    expect((await patch(url, 4, Buffer.from("efghij"))).status).toBe(204);
    await rig.server.settle();
    expect(String(await rig.stored(id))).toBe("abcdefghij");
  });

  it("lets one of two writers at once write, and tells the other 423", async () => {
    const url = await created(10);
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.write(
      `PATCH ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n` +
        `Content-Type: application/offset+octet-stream\r\nContent-Length: 10\r\n\r\nabcd`,
    );
    await expect.poll(() => offsetOf(url)).toBe(4);
    expect((await patch(url, 4, Buffer.from("zzzzzz"))).status).toBe(423);
    expect((await fetch(url, { method: "DELETE", headers: TUS })).status).toBe(423);
    socket.write("efghij");
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 204 /);
    await rig.server.settle();
    expect(String(await rig.stored(id))).toBe("abcdefghij");
  });

  it("goes on after a restart from the bytes that are on the disk", async () => {
    const file = randomBytes(500_000);
    const url = await created(file.length);
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `PATCH ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\n` +
        `Content-Type: application/offset+octet-stream\r\nContent-Length: ${file.length}\r\n\r\n`,
    );
    socket.write(file.subarray(0, 200_000));
    await expect.poll(() => offsetOf(url)).toBe(200_000);
    await rig.restart();
    socket.destroy();
    expect(await offsetOf(url)).toBe(200_000);
    expect((await patch(url, 200_000, file.subarray(200_000))).status).toBe(204);
    await rig.server.settle();
    expect((await rig.stored(id)).equals(file)).toBe(true);
  });

  it("counts bytes with a checksum only when it holds: 460 else, and after a kill they are gone", async () => {
    const url = await created(10);
    const sha1 = (bytes: string) => ({
      "upload-checksum": `sha1 ${createHash("sha1").update(bytes).digest("base64")}`,
    });
    expect((await patch(url, 0, Buffer.from("abcd"), sha1("other"))).status).toBe(460);
    expect(await offsetOf(url)).toBe(0);
    expect((await patch(url, 0, Buffer.from("abcd"), { "upload-checksum": "crc32 AAAA" })).status).toBe(400);
    expect((await patch(url, 0, Buffer.from("abcd"), sha1("abcd"))).status).toBe(204);

    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `PATCH ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 4\r\nUpload-Checksum: ${sha1("efghij")["upload-checksum"]}\r\n` +
        `Content-Type: application/offset+octet-stream\r\nContent-Length: 6\r\n\r\nef`,
    );
    await expect.poll(() => readdir(rig.folder)).toContain(`${id}.from`);
    expect(await offsetOf(url)).toBe(4);
    await rig.restart();
    expect(await offsetOf(url)).toBe(4);
    socket.destroy();
  });

  it("keeps verified bytes where a kill came before the mark of the next ones was written", async () => {
    const url = await created(10);
    expect((await patch(url, 0, Buffer.from("abcd"))).status).toBe(204);
    await writeFile(join(rig.folder, `${id}.from`), "");
    expect(await offsetOf(url)).toBe(4);
    await rig.restart();
    expect(await offsetOf(url)).toBe(4);
  });

  it("does not end an upload that is complete", async () => {
    rig.away.isAway = true;
    const url = await created(3);
    expect((await patch(url, 0, Buffer.from("abc"))).status).toBe(204);
    expect((await fetch(url, { method: "DELETE", headers: TUS })).status).toBe(400);
    rig.away.isAway = false;
    await rig.server.settle();
    expect(String(await rig.stored(id))).toBe("abc");
  });

  it.each(["HEAD", "POST", "PATCH", "DELETE"])("reads no endless body behind the answer to a %s", async (method) => {
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.on("error", () => {});
    const answered = new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const path = `/api/asset/upload/tus/${id}.${"0".repeat(32)}`;
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 1000000000\r\n\r\nabc`,
    );
    expect(await answered).toMatch(/^HTTP\/1\.1 40[45] /);
    await rig.clock.advance(2_000);
    await closed;
  });

  it("refuses lengths that are none, too large, or changed later", async () => {
    expect((await begin("-1")).status).toBe(400);
    expect((await begin("1e3")).status).toBe(400);
    expect((await begin("1000000000000000000")).status).toBe(413);
    const url = await created(10);
    expect((await patch(url, 0, Buffer.from("a"), { "upload-length": "1" })).status).toBe(400);
    expect((await patch(url, 0, Buffer.from("more than ten bytes"))).status).toBe(413);
    expect(await offsetOf(url)).toBe(0);
  });

  it("refuses metadata that is none or endless", async () => {
    expect((await begin(10, tokenOf(id), { "upload-metadata": "name ***" })).status).toBe(400);
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`POST /api/asset/upload/tus HTTP/1.1\r\nHost: x\r\nUpload-Metadata: a ${"A".repeat(30_000)}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("knows no upload by a guess", async () => {
    const url = await created(10);
    const guessed = url.replace(/[0-9a-f]{32}$/, "0".repeat(32));
    for (const address of [guessed, `${TUS_URL}/${id}`, `${TUS_URL}/..%2f..%2fetc%2fpasswd`, `${TUS_URL}/nothing`]) {
      expect((await fetch(address, { method: "HEAD", headers: TUS })).status).toBe(404);
      expect((await patch(address, 0, Buffer.from("abc"))).status).toBe(404);
      expect((await fetch(address, { method: "DELETE", headers: TUS })).status).toBe(404);
    }
    expect(await offsetOf(url)).toBe(0);
  });

  it("needs a token that is good for this asset, and for one upload", async () => {
    expect((await fetch(TUS_URL, { method: "POST", headers: { ...TUS, "upload-length": "3" } })).status).toBe(401);
    expect((await begin(3, "forged")).status).toBe(403);
    const url = await created(3);
    expect((await patch(url, 0, Buffer.from("abc"))).status).toBe(204);
    expect((await begin(3)).status).toBe(422);
  });

  it("is answered 507 where the disk has no room, with an honest offset, and goes on when there is", async () => {
    rig.disk.freeBytes = 1_000;
    expect((await begin(10)).status).toBe(507);
    expect((await put(tokenOf("no-room"), "x")).status).toBe(507);
    rig.disk.freeBytes = 2 ** 40;
    const url = await created(10);
    rig.disk.freeBytes = 1_000;
    expect((await patch(url, 0, Buffer.from("abcd"))).status).toBe(507);
    expect(await offsetOf(url)).toBe(0);
    rig.disk.freeBytes = 2 ** 40;
    expect((await patch(url, 0, Buffer.from("abcdefghij"))).status).toBe(204);
  });

  it("gives the disk back where an upload is ended, or given up", async () => {
    const url = await created(10);
    expect((await fetch(url, { method: "DELETE", headers: TUS })).status).toBe(204);
    expect((await fetch(url, { method: "HEAD", headers: TUS })).status).toBe(404);
    const another = await created(10);
    expect((await patch(another, 0, Buffer.from("abc"))).status).toBe(204);
    rig.expired.add(id);
    await rig.server.settle();
    expect((await readdir(rig.folder)).filter((name) => name.startsWith(`${id}.`))).toEqual([]);
  });

  it("says when it expires", async () => {
    const answer = await begin(10);
    const expires = Date.parse(answer.headers.get("upload-expires") ?? "");
    expect(expires - Date.now()).toBeGreaterThan(23 * 3_600_000);
  });
});

it("a file waits on the disk while the object store is away, also for a restart", async () => {
  rig.away.isAway = true;
  expect((await put(tokenOf(id), "patience")).status).toBe(200);
  await rig.server.settle();
  await expect(rig.stored(id)).rejects.toThrow();
  expect(rig.server.waiting).toBe(1);
  await rig.restart();
  expect(rig.server.waiting).toBe(1);
  rig.away.isAway = false;
  await rig.server.settle();
  expect(String(await rig.stored(id))).toBe("patience");
  expect(rig.server.waiting).toBe(0);
});

it("one client takes only so many places, and others get theirs", async () => {
  const sockets = Array.from({ length: 24 }, (_, n) => {
    const socket = connect(Number(new URL(rig.url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write(
      `PUT /api/asset/upload/direct?token=${tokenOf(`${id}-${n}`)} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc`,
    );
    return socket;
  });
  await expect.poll(() => rig.server.underWay).toBe(24);
  const answer = await put(tokenOf(id), "one more");
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "5"]);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => rig.server.underWay).toBe(0);
});

it("tus: a database that is away at the last byte: the client sees that all is there, and the file is delivered without a restart", async () => {
  const url = await created(3);
  rig.database.next = "away";
  expect((await patch(url, 0, Buffer.from("abc"))).status).toBe(500);
  // What every tus client does after an error: all of it is there, so it is done.
  expect(await offsetOf(url)).toBe(3);
  await rig.clock.advance(60_000);
  await rig.server.settle();
  expect(rig.received.get(id)).toBe(3);
  expect(String(await rig.stored(id))).toBe("abc");
});

it("PUT: a database that kept that the file is complete, but whose answer was lost: the file is not thrown away", async () => {
  rig.database.next = "answer-lost";
  const answer = await fetch(`${rig.url}/api/asset/upload/direct?token=${tokenOf(id)}`, { method: "PUT", body: "abc" });
  expect(answer.status).toBe(500);
  // A second attempt is refused, since the asset has its file: 422.
  const again = await fetch(`${rig.url}/api/asset/upload/direct?token=${tokenOf(id)}`, { method: "PUT", body: "abc" });
  expect(again.status).toBe(422);
  await rig.clock.advance(60_000);
  await rig.server.settle();
  expect(String(await rig.stored(id))).toBe("abc");
});

it("PUT: a file that is complete and not delivered yet is not sent anew", async () => {
  rig.database.next = "away";
  const put = () => fetch(`${rig.url}/api/asset/upload/direct?token=${tokenOf(id)}`, { method: "PUT", body: "abc" });
  rig.away.isAway = true;
  expect((await put()).status).toBe(500);
  await rig.server.settle();
  rig.received.delete(id);
  expect((await put()).status).toBe(423);
  rig.away.isAway = false;
  await rig.clock.advance(60_000);
  await rig.server.settle();
  expect(String(await rig.stored(id))).toBe("abc");
});

it("tus: an upload for which this node has no room is left to other nodes", async () => {
  rig.disk.freeBytes = 0;
  expect((await begin(10)).status).toBe(507);
  expect(rig.released).toContain(id);
});

it("an upload in the spool that cannot be read keeps no server from starting", async () => {
  await mkdir(join(rig.folder, "upload-unreadable.json"));
  await rig.restart();
  await rm(join(rig.folder, "upload-unreadable.json"), { recursive: true });
});
