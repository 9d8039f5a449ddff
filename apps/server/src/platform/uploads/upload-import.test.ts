import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { startUploads, type UploadRig } from "./upload-test-rig.ts";

const rig = await startUploads();
afterAll(() => rig[Symbol.asyncDispose]());

let id = "";
let imports = 0;
beforeEach(() => {
  id = `import-${++imports}`;
  rig.disk.freeBytes = 2 ** 40;
});

const FILE = randomBytes(600_000);

type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** A host with one file, which answers as told. */
async function hostThat(answer: Answer): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response, asked.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.mp4`, asked };
}

/** As most hosts do: whole, or the rest of the same version. */
const serve: Answer = ({ headers }, response) => {
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? [];
  if (from === undefined || headers["if-range"] !== '"v1"')
    return response.writeHead(200, { etag: '"v1"', "content-length": FILE.length }).end(FILE);
  const range = `bytes ${from}-${FILE.length - 1}/${FILE.length}`;
  return response.writeHead(206, { etag: '"v1"', "content-range": range }).end(FILE.subarray(Number(from)));
};

/** The connection is lost once the server has this much on its disk. */
async function lostAfter(bytes: number, response: ServerResponse): Promise<void> {
  await vi.waitUntil(async () => (await rig.spooledBytes(id)) === bytes, { timeout: 15_000 });
  response.destroy();
}

const fetchInto = (server: UploadRig["server"], url: string, maxBytes = 1_000_000) =>
  server.import({ id, url, maxBytes, signal: new AbortController().signal, onProgress: async () => {} });

/** The clock of the server stands still: pauses between tries end at once. */
async function passingPauses<Result>(work: Promise<Result>): Promise<Result> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await rig.clock.advance(1_000);
  }
  return over;
}

describe("a file at an address", () => {
  it("is fetched, through redirects, and put into the object store", async () => {
    const { url } = await hostThat((request, response, count) =>
      count <= 5 ? response.writeHead(302, { location: `/hop-${count}` }).end() : serve(request, response, count),
    );
    await fetchInto(rig.server, url);
    expect((await rig.stored(id)).equals(FILE)).toBe(true);
    expect(rig.received.get(id)).toBe(FILE.length);
  });

  it("whose connection is lost is fetched on from there, where its host can", async () => {
    const { url, asked } = await hostThat((request, response, count) => {
      if (count > 1) return serve(request, response, count);
      response.writeHead(200, { etag: '"v1"', "content-length": FILE.length });
      response.write(FILE.subarray(0, 250_000));
      void lostAfter(250_000, response);
    });
    await passingPauses(fetchInto(rig.server, url));
    expect(asked[1]?.headers).toMatchObject({ range: "bytes=250000-", "if-range": '"v1"' });
    expect((await rig.stored(id)).equals(FILE)).toBe(true);
  });

  it("that changed meanwhile, or whose host knows no ranges, is fetched anew", async () => {
    const { url } = await hostThat((_request, response, count) => {
      const file = count === 1 ? Buffer.alloc(FILE.length) : FILE;
      response.writeHead(200, { etag: `"v${count}"`, "content-length": file.length });
      if (count > 1) return response.end(file);
      response.write(file.subarray(0, 100_000));
      void lostAfter(100_000, response);
    });
    await passingPauses(fetchInto(rig.server, url));
    expect((await rig.stored(id)).equals(FILE)).toBe(true);
  });

  it("goes on after a restart with what is on the disk", async () => {
    const { url, asked } = await hostThat((request, response, count) => {
      if (count > 1) return serve(request, response, count);
      response.writeHead(200, { etag: '"v1"', "content-length": FILE.length });
      response.write(FILE.subarray(0, 250_000));
    });
    const first = fetchInto(rig.server, url);
    first.catch(() => {});
    await expect.poll(() => rig.spooledBytes(id)).toBe(250_000);
    await rig.restart();
    await fetchInto(rig.server, url);
    expect(asked[1]?.headers.range).toBe("bytes=250000-");
    expect((await rig.stored(id)).equals(FILE)).toBe(true);
  });

  it.each([
    ["is not there", (_, response) => response.writeHead(404).end(), "the host answered 404"],
    [
      "is too large, and says so",
      (_, response) => response.writeHead(200, { "content-length": 2_000_000 }).end(),
      "the file is larger than 1000000 bytes",
    ],
    [
      "is endless",
      (_, response) => {
        response.writeHead(200);
        const send = () => void (response.destroyed || response.write(FILE, send));
        send();
      },
      "the file is larger than 1000000 bytes",
    ],
    [
      "redirects for ever",
      (_, response, count) => response.writeHead(302, { location: `/${count}` }).end(),
      "the host redirected more than 5 times",
    ],
    [
      "redirects to a file of this machine",
      (_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
      "it is not an http:// or https:// address",
    ],
    [
      "comes packed",
      (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end("bomb"),
      "the host sends the file in a packed form",
    ],
  ] satisfies readonly (readonly [string, Answer, string])[])(
    "that %s fails for good",
    async (_what, answer, message) => {
      const { url } = await hostThat(answer as Answer);
      await expect(fetchInto(rig.server, url)).rejects.toMatchObject({ message, isFinal: true });
      expect(rig.received.has(id)).toBe(false);
    },
  );

  it("that cannot be had at the moment fails after some tries, and may be tried again", async () => {
    const { url, asked } = await hostThat((_request, response) => response.writeHead(503).end());
    await expect(passingPauses(fetchInto(rig.server, url))).rejects.toMatchObject({
      message: "the host answered 503",
      isFinal: false,
    });
    expect(asked).toHaveLength(4);
  });

  it("that hardly comes is cut", async () => {
    const { url } = await hostThat((_request, response) => void response.writeHead(200).write("a"));
    await expect(passingPauses(fetchInto(rig.server, url))).rejects.toMatchObject({
      message: "the connection was lost, or brought hardly anything",
    });
  });

  it("is not fetched from a private address, nor through a redirect to one", async () => {
    await using guarded = await startUploads({ allowPrivate: false });
    const { url, asked } = await hostThat(serve);
    await expect(fetchInto(guarded.server, url)).rejects.toMatchObject({
      message: expect.stringContaining("WEIR_ALLOW_PRIVATE_URLS=1"),
      isFinal: true,
    });
    expect(asked).toEqual([]);
  });
});
