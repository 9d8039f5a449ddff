import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { CreateAssetOptions, SourceProgress } from "./asset-creation.ts";
import { WeirClient } from "./weir-client.ts";
import type { WeirError } from "./weir-error.ts";

/** A server with one project's assets, in memory. */
async function startServer() {
  const uploads = new Map<string, { bytes: Buffer; length: number }>();
  const asked: string[] = [];
  const state = {
    cutPatches: 0,
    /** The answer to the last byte is lost, and the file is delivered before anybody asks. */
    losesLastAnswer: false,
    /** The outcome for a file that has arrived. */
    outcome: { phase: "ready" } as { phase: string; errorMessage?: string },
    onPatch: (_count: number) => {},
  };
  let patches = 0;
  const json = (response: ServerResponse, body: unknown) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  const isWhole = ({ bytes, length }: { bytes: Buffer; length: number }) => bytes.length === length;
  const assetOf = (id: string) => {
    const upload = uploads.get(id);
    const isThere = upload !== undefined && isWhole(upload);
    return { id, name: id, status: isThere ? state.outcome : { phase: "uploading" } };
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
    asked.push(`${request.method} ${pathname}`);
    const [, , , id = ""] = pathname.split("/");
    if (pathname === "/api/asset/request-upload") {
      const { name } = JSON.parse(String(await buffer(request)));
      const tusEndpoint = `http://127.0.0.1:${port}/tus?token=${name}`;
      return json(response, { asset: assetOf(name), task: { id: "t" }, tusEndpoint, url: "" });
    }
    if (pathname.startsWith("/api/asset/")) return json(response, assetOf(id));
    if (request.method === "POST") {
      const token = searchParams.get("token") ?? "";
      const known = uploads.get(token);
      if (known && isWhole(known)) return response.writeHead(422).end();
      uploads.set(token, { bytes: Buffer.alloc(0), length: Number(request.headers["upload-length"]) });
      return response.writeHead(201, { location: `/tus/${token}` }).end();
    }
    const upload = uploads.get(pathname.slice("/tus/".length));
    if (!upload || (state.losesLastAnswer && isWhole(upload))) return response.writeHead(404).end();
    if (request.method === "PATCH") {
      state.onPatch(++patches);
      if (state.cutPatches-- > 0) return request.destroy();
      const chunk = await buffer(request);
      if (Number(request.headers["upload-offset"]) !== upload.bytes.length) return response.writeHead(409).end();
      const digest = createHash("sha256").update(chunk).digest("base64");
      if (request.headers["upload-checksum"] !== `sha256 ${digest}`) return response.writeHead(460).end();
      upload.bytes = Buffer.concat([upload.bytes, chunk]);
      if (state.losesLastAnswer && isWhole(upload)) return request.socket.destroy();
    }
    return response.writeHead(204, { "upload-offset": String(upload.bytes.length) }).end();
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    client: new WeirClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "k" }),
    asked,
    uploads,
    state,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const FILE = randomBytes(2_500_000);
const file = () => new File([FILE], "clip.mp4", { type: "video/mp4", lastModified: 1 });

function memory() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

/** Keeps the phases of a source as they come, each once. */
function phases() {
  const seen: string[] = [];
  const onProgress = ([source]: readonly SourceProgress[]) => {
    if (source && seen.at(-1) !== source.phase) seen.push(source.phase);
  };
  return { seen, onProgress } satisfies CreateAssetOptions & { seen: string[] };
}

test("files become assets, with the progress of each", async () => {
  await using server = await startServer();
  const { seen, onProgress } = phases();
  const creation = server.client.createAsset(
    {
      sources: [
        { name: "one", file: file() },
        { name: "two", file: new Blob(["second"]) },
      ],
    },
    { onProgress },
  );
  expect(creation.progress).toEqual([{ phase: "waiting" }, { phase: "waiting" }]);
  expect((await creation.assets).map(({ id }) => id)).toEqual(["one", "two"]);
  expect(seen).toEqual(["uploading", "processing"]);
  expect(creation.progress).toEqual([
    { phase: "processing", progress: 1 },
    { phase: "processing", progress: 1 },
  ]);
  expect(server.uploads.get("one")?.bytes.equals(FILE)).toBe(true);
  expect(String(server.uploads.get("two")?.bytes)).toBe("second");
});

test("an upload whose connection is cut goes on with what has arrived", async () => {
  await using server = await startServer();
  server.state.onPatch = (count) => {
    server.state.cutPatches = count === 2 ? 1 : 0;
  };
  await server.client.createAsset({ sources: [{ name: "one", file: file() }] }).assets;
  expect(server.uploads.get("one")?.bytes.equals(FILE)).toBe(true);
  expect(server.asked.filter((request) => request === "POST /tus")).toHaveLength(1);
  expect(server.asked).toContain("HEAD /tus/one");
});

test("an upload whose last answer was lost, of a file that the server has delivered since, has arrived", async () => {
  await using server = await startServer();
  server.state.losesLastAnswer = true;
  const [asset] = await server.client.createAsset({ sources: [{ name: "one", file: file() }] }).assets;
  expect(asset?.status.phase).toBe("ready");
  expect(server.asked).toEqual(expect.arrayContaining(["HEAD /tus/one", "POST /tus"]));
  expect(server.uploads.get("one")?.bytes.equals(FILE)).toBe(true);
});

test("an upload that a reload of the page ended goes on when the same file is chosen again", async () => {
  await using server = await startServer();
  const kept = memory();
  const left = new AbortController();
  server.state.onPatch = (count) => {
    if (count !== 2) return;
    server.state.cutPatches = 1;
    left.abort(new Error("the page was left"));
  };
  const sources = [{ name: "one", file: file() }];
  const first = server.client.createAsset({ sources }, { memory: kept, signal: left.signal });
  await expect(first.assets).rejects.toThrow("the page was left");
  expect(kept.kept.size).toBe(1);
  server.state.onPatch = () => {};
  await server.client.createAsset({ sources }, { memory: kept }).assets;
  expect(server.uploads.get("one")?.bytes.equals(FILE)).toBe(true);
  expect(server.asked.filter((request) => request.startsWith("POST"))).toEqual([
    "POST /api/asset/request-upload",
    "POST /tus",
  ]);
  expect(kept.kept.size).toBe(0);
});

test("a file that had arrived when the page was left is not sent again", async () => {
  await using server = await startServer();
  const kept = memory();
  const left = new AbortController();
  server.state.outcome = { phase: "processing" };
  const sources = [{ name: "one", file: file() }];
  const onProgress = ([source]: readonly SourceProgress[]) => {
    if (source?.phase === "uploading" && source.progress === 1) left.abort(new Error("the page was left"));
  };
  const first = server.client.createAsset({ sources }, { memory: kept, signal: left.signal, onProgress });
  await expect(first.assets).rejects.toThrow("the page was left");
  server.state.outcome = { phase: "ready" };
  const [asset] = await server.client.createAsset({ sources }, { memory: kept }).assets;
  expect(asset?.id).toBe("one");
  expect(server.asked.filter((request) => request.startsWith("POST"))).toHaveLength(2);
  expect(kept.kept.size).toBe(0);
});

test("a paused upload sends nothing until it is resumed", async () => {
  await using server = await startServer();
  server.state.onPatch = (count) => {
    if (count === 1) creation.pause();
  };
  const creation = server.client.createAsset({ sources: [{ name: "one", file: file() }] });
  await expect.poll(() => creation.isPaused).toBe(true);
  const before = server.asked.length;
  await expect(
    Promise.race([creation.assets, new Promise((resolve) => setTimeout(resolve, 200, "held"))]),
  ).resolves.toBe("held");
  expect(server.asked.length).toBe(before);
  creation.resume();
  await creation.assets;
  expect(server.uploads.get("one")?.bytes.equals(FILE)).toBe(true);
});

test("an asset that fails says why, and the others are made all the same", async () => {
  await using server = await startServer();
  server.state.outcome = { phase: "failed", errorMessage: "The file has no pictures." };
  const creation = server.client.createAsset({ sources: [{ name: "one", file: new Blob(["text"]) }] });
  const error = await creation.assets.catch((reason: WeirError) => reason);
  expect(error).toMatchObject({ message: "The file has no pictures.", code: "asset-failed" });
  expect(creation.progress).toEqual([{ phase: "failed", error }]);
});

test("an asset that fails while another file is still on its way is no rejection that nobody handles", async () => {
  await using server = await startServer();
  server.state.outcome = { phase: "failed", errorMessage: "no video" };
  server.state.onPatch = (count) => {
    if (count === 2) server.state.cutPatches = 1;
  };
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const sources = ["a", "b"].map((name) => ({ name, file: new Blob([name]) }));
  const creation = server.client.createAsset({ sources }, { uploadsAtOnce: 1, memory: null });
  await expect(creation.assets).rejects.toThrow("no video");
  process.off("unhandledRejection", note);
  expect([server.asked.filter((line) => line.startsWith("PATCH")).length, unhandled]).toEqual([3, []]);
});
