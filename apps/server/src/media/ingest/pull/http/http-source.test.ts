import { createCipheriv } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../../../platform/clock.ts";
import { FIRST, RENEWED } from "../../../../platform/http/certificate.fixture.ts";
import { Outbound } from "../../../../platform/outbound/outbound.ts";
import { PLAIN_MEMORY } from "../../ingest-rig.ts";
import { PacedMemory } from "../paced-memory.ts";
import { openHttp } from "./http-source.ts";

const TS = readFileSync(new URL("../../../../../../../packages/formats/src/ts/corpus/avc-adts.m2t", import.meta.url));
const HALF = 188 * 60;

const servers: Server[] = [];
afterEach(() =>
  Promise.all(
    servers.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    }),
  ),
);

/** `tls`: its certificate, for https://. */
async function serve(answer: RequestListener, tls: typeof FIRST | null = null): Promise<string> {
  const server = tls ? createSecureServer(tls, answer) : createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `${tls ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Of each path its body, or its redirect. */
const site = (paths: Record<string, string | Buffer | { to: string }>): Promise<string> =>
  serve(({ url = "" }, response) => {
    const found = paths[url.split("?")[0] ?? ""];
    if (found === undefined) response.writeHead(404).end();
    else if (typeof found === "object" && "to" in found) response.writeHead(302, { location: found.to }).end();
    else response.writeHead(200, { "content-length": Buffer.byteLength(found) }).end(found);
  });

interface Reading {
  readonly own?: readonly number[];
  readonly open?: readonly string[];
  readonly headers?: Record<string, string>;
}

async function* pieces(url: string, { own = [], open = ["127.0.0.1"], headers = {} }: Reading = {}) {
  const outbound = new Outbound({
    ...{ clock: systemClock, allowPrivate: false, pullNetworks: open },
    ...{ own: () => ({ ports: own, publicUrl: "https://weir.example" }), trusted: FIRST.cert },
    resolve: async () => ["127.0.0.1"],
  });
  const srt = { connect: () => ({ send() {}, close() {} }) };
  const ahead = new PacedMemory();
  const { signal } = new AbortController();
  yield* openHttp({ url, headers }, { outbound, srt, clock: systemClock, memory: PLAIN_MEMORY, ahead, signal });
  expect(ahead.bytes).toBe(0);
}

async function read(url: string, reading?: Reading): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const piece of pieces(url, reading)) if (piece.type === "ts") chunks.push(piece.bytes);
  return Buffer.concat(chunks);
}

const list = (...lines: string[]) => ["#EXTM3U", "#EXT-X-TARGETDURATION:1", ...lines, ""].join("\n");

it("a transport stream of a known length is read to its end", async () => {
  expect(await read(`${await site({ "/a": TS })}/a`)).toEqual(TS);
});

it("a transport stream without a length is a live one, whose end is a loss", async () => {
  const live = await serve((_request, response) => {
    response.write(TS);
    response.end();
  });
  await expect(read(live)).rejects.toThrow("closed the connection");
});

it("the best variant of a playlist is read segment by segment, by range, encrypted or not, without its gaps", async () => {
  const key = Buffer.alloc(16, 7);
  const cipher = createCipheriv("aes-128-cbc", key, Buffer.from("05".padStart(32, "0"), "hex"));
  const sealed = Buffer.concat([cipher.update(TS.subarray(HALF)), cipher.final()]);
  const [all, whole] = [[] as string[], Buffer.concat([Buffer.alloc(10), TS])];
  const paths: Record<string, string | Buffer> = {
    "/main": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nbad\n#EXT-X-STREAM-INF:BANDWIDTH=2\ngood/list?a=b\n",
    "/good/list": list(
      ...["#EXT-X-MEDIA-SEQUENCE:3", "#EXTINF:1,", `#EXT-X-BYTERANGE:${HALF}@10`, "../all"],
      ...["#EXT-X-GAP", "#EXTINF:1,", "missing", '#EXT-X-KEY:METHOD=AES-128,URI="/key"', "#EXTINF:1,", "sealed"],
      "#EXT-X-ENDLIST",
    ),
    "/key": key,
    "/good/sealed": sealed,
  };
  const url = await serve(({ url = "", headers: { range } }, response) => {
    all.push(url);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
    if (url === "/all") response.writeHead(206).end(whole.subarray(Number(from), Number(to) + 1));
    else response.end(paths[url.split("?")[0] ?? ""]);
  });
  expect(await read(`${url}/main`)).toEqual(TS);
  expect(all).toEqual(["/main", "/good/list?a=b", "/all", "/good/sealed", "/key"]);
});

it("a live playlist begins three target durations before its end and is followed by number; a late segment is waited for", async () => {
  const asked: string[] = [];
  let reads = 0;
  let late = 0;
  const live = await serve(({ url = "" }, response) => {
    if (url === "/live") {
      reads++;
      const first = 10 + Math.min(reads, 3);
      const segments = [0, 1, 2, 3, 4].flatMap((n) => ["#EXTINF:1,", `/s/${first + n}`]);
      response.end(list(`#EXT-X-MEDIA-SEQUENCE:${first}`, ...segments, ...(reads > 3 ? ["#EXT-X-ENDLIST"] : [])));
    } else if (url === "/s/16" && late++ === 0) response.writeHead(404).end();
    else {
      asked.push(url);
      response.end(TS);
    }
  });
  await read(`${live}/live`);
  expect(asked).toEqual(["/s/13", "/s/14", "/s/15", "/s/16", "/s/17"]);
});

it("user name, password and headers go to the source's host, and to no other that it names", async () => {
  const got: (string | undefined)[] = [];
  const note: RequestListener = ({ headers }, response) => {
    got.push(`${headers.authorization ?? "-"} ${headers["x-token"] ?? "-"}`);
    response.writeHead(200, { "content-length": TS.byteLength }).end(TS);
  };
  const elsewhere = await serve(note);
  const own = await serve((request, response) => {
    if (request.url !== "/list") return note(request, response);
    got.push(`${request.headers.authorization} ${request.headers["x-token"]}`);
    response.end(list("#EXTINF:1,", "/here", "#EXTINF:1,", `${elsewhere}/there`, "#EXT-X-ENDLIST"));
  });
  await read(`${own.replace("//", "//me:pass@")}/list`, { headers: { "x-token": "t" } });
  const secret = `Basic ${Buffer.from("me:pass").toString("base64")} t`;
  expect(got).toEqual([secret, secret, "- -"]);
});

const PRIVATE = "http://10.0.0.9/inside";
it.each<[string, Record<string, string | { to: string }>, string]>([
  ["a redirect into a closed network", { "/": { to: PRIVATE } }, "WEIR_PULL_NETWORKS"],
  ["a redirect to the machine's metadata", { "/": { to: "http://169.254.169.254/" } }, "WEIR_PULL_NETWORKS"],
  ["a redirect to a file", { "/": { to: "file:///etc/passwd" } }, "no http:// or https://"],
  ["a redirect to itself", { "/": { to: "/" } }, "redirected more than 5 times"],
  ["a segment in a closed network", { "/": list("#EXTINF:1,", PRIVATE, "#EXT-X-ENDLIST") }, "WEIR_PULL_NETWORKS"],
  ["a segment of this server", { "/": list("#EXTINF:1,", "https://weir.example/a") }, "leads back to this server"],
  ["a segment that is a file", { "/": list("#EXTINF:1,", "file:///etc/passwd") }, "no http:// or https://"],
  [
    "a variant in a closed network",
    { "/": `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${PRIVATE}` },
    "WEIR_PULL_NETWORKS",
  ],
  [
    "a key in a closed network",
    { "/": list(`#EXT-X-KEY:METHOD=AES-128,URI="${PRIVATE}"`, "#EXTINF:1,", "/s"), "/s": "x" },
    "WEIR_PULL_NETWORKS",
  ],
  [
    "another encryption",
    { "/": list('#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"', "#EXTINF:1,", "/s"), "/s": "x" },
    "SAMPLE-AES",
  ],
  [
    "an encryption that nobody defined",
    { "/": list('#EXT-X-KEY:METHOD=SECRET-OF-AN-INTRANET,URI="k"', "#EXTINF:1,", "/s"), "/s": "x" },
    "encrypted with an unknown method",
  ],
  [
    "an init segment that is not there",
    { "/": list('#EXT-X-MAP:URI="i"', "#EXTINF:1,", "/s") },
    "init segment is not there",
  ],
  [
    "an init segment in a closed network",
    { "/": list(`#EXT-X-MAP:URI="${PRIVATE}"`, "#EXTINF:1,", "/s") },
    "WEIR_PULL_NETWORKS",
  ],
  [
    "encrypted segments in MP4",
    { "/": list('#EXT-X-MAP:URI="i"', '#EXT-X-KEY:METHOD=AES-128,URI="k"', "#EXTINF:1,", "/s") },
    "encrypted segments in MP4",
  ],
  [
    "sound in a closed network",
    {
      "/": `#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="${PRIVATE}"
#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
v`,
      "/v": list("#EXTINF:1,", "/s", "#EXT-X-ENDLIST"),
      "/s": "x",
    },
    "WEIR_PULL_NETWORKS",
  ],
  ["a page", { "/": "<!doctype html><title>secret</title>" }, "neither an HLS playlist"],
  ["an MP4 file without an index", { "/": "\0\0\0\x0cftypisom" }, "has no index"],
  ["an empty answer", { "/": "" }, "neither an HLS playlist"],
  ["a damaged playlist", { "/": "#EXTM3U\n#EXTINF:1,\na.ts" }, "target duration"],
  ["nothing there", {}, "404"],
])("%s is refused with a sentence", async (_what, paths, sentence) => {
  await expect(read(`${await site(paths)}/`)).rejects.toThrow(sentence);
});

const mp4 = (name: string) =>
  readFileSync(new URL(`../../../../../../../packages/formats/src/mp4/corpus/${name}.mp4`, import.meta.url));

/** Counts of the frames of each kind, and the tracks. */
async function framesOf(url: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for await (const piece of pieces(url)) {
    const name =
      piece.type === "frame" ? piece.frame.kind : piece.type === "track" ? `${piece.format.codec}` : piece.type;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const WHOLE = { others: 1, avc: 1, aac: 1, video: 20, audio: 95 };

it("an MP4 file is read to its last frame, whatever its end is; with its index at the end by parts", async () => {
  const asked: (string | undefined)[] = [];
  const url = await serve(({ url = "", headers: { range } }, response) => {
    asked.push(range);
    const file = mp4(url.slice(1));
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
    // In chunks, without a length; media that is not read on stays where it is.
    response.writeHead(range === undefined ? 200 : 206).write(file.subarray(from, from + 3000));
    if (range !== undefined || url !== "/index-last") response.end(file.subarray(from + 3000));
  });
  expect(await framesOf(`${url}/index-first`)).toEqual(WHOLE);
  expect(asked).toEqual([undefined]);
  expect(await framesOf(`${url}/index-last`)).toEqual(WHOLE);
  expect(asked.slice(2)).toEqual([expect.stringMatching(/^bytes=1\d{4}-$/), expect.stringMatching(/^bytes=\d\d-$/)]);
  await expect(framesOf(`${url}/fragments`)).rejects.toThrow("closed the connection");
});

it("a file with its index at the end needs a server that answers for parts", async () => {
  const url = await site({ "/": mp4("index-last") });
  await expect(framesOf(url)).rejects.toThrow("does not answer requests for a part");
  await expect(framesOf(await site({ "/": mp4("index-first").subarray(0, 9_000) }))).rejects.toThrow("was lost");
});

/** The init segment, and the fragments, of a file. */
function segmentsOf(name: string): [init: Buffer, ...fragments: Buffer[]] {
  const file = mp4(name);
  const starts = [...file.toString("latin1").matchAll(/moof/g)].map(({ index }) => index - 4);
  return [file.subarray(0, starts[0]), ...starts.map((at, i) => file.subarray(at, starts[i + 1]))];
}

it("HLS with MP4 is read: one playlist by range, and picture and sound in a playlist each, segment by segment", async () => {
  const [init, ...fragments] = segmentsOf("fragments");
  const one = list(
    '#EXT-X-MAP:URI="/init"',
    ...fragments.flatMap((_, i) => ["#EXTINF:1,", `/f${i}`]),
    "#EXT-X-ENDLIST",
  );
  const bodies = Object.fromEntries(fragments.map((bytes, i) => [`/f${i}`, bytes]));
  expect(await framesOf(await site({ "/": one, "/init": init, ...bodies }))).toEqual(WHOLE);

  const asked: string[] = [];
  const [video, sound] = [segmentsOf("video"), segmentsOf("sound")];
  const apart = (name: string, parts: readonly Buffer[]) => ({
    [`/${name}`]: list(
      `#EXT-X-MAP:URI="/${name}0"`,
      ...parts.slice(1).flatMap((_, i) => ["#EXTINF:1,", `/${name}${i + 1}`]),
      "#EXT-X-ENDLIST",
    ),
    ...Object.fromEntries(parts.map((bytes, i) => [`/${name}${i}`, bytes])),
  });
  const paths: Record<string, string | Buffer> = {
    "/": '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"\nv\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",URI="a"\n',
    ...apart("v", video),
    ...apart("a", sound),
  };
  const url = await serve(({ url = "" }, response) => {
    asked.push(url);
    response.end(paths[url]);
  });
  expect(await framesOf(url)).toMatchObject({ avc: 1, aac: 1, video: 20, audio: 95 });
  expect(asked.slice(0, 9)).toEqual(["/", "/v", "/v0", "/v1", "/a", "/a0", "/a1", "/v2", "/a2"]);
});

it("an MP4 file of boxes that mean nothing is not read for ever", async () => {
  const free = Buffer.from("00100000".concat(Buffer.from("free").toString("hex"), "00".repeat(0x100000 - 8)), "hex");
  const url = await serve((_request, response) => {
    response.write("\0\0\0\x08ftyp");
    const more = () => {
      while (!response.destroyed && response.write(free));
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  });
  await expect(framesOf(url)).rejects.toThrow("neither picture nor sound");
});

it("a playlist of many megabytes is not read to its end", async () => {
  let sent = 0;
  const url = await serve((_request, response) => {
    response.write(list());
    const more = () => {
      while (!response.destroyed && response.write("#".repeat(65_536))) sent += 65_536;
      if (!response.destroyed) response.once("drain", more);
    };
    more();
  });
  await expect(read(url)).rejects.toThrow("larger than");
  expect(sent).toBeLessThan(32 * 1024 * 1024);
});

it("this server is not pulled from, and of an address that refuses the same is said as of one that closes", async () => {
  const closing = await serve((request) => void request.socket.destroy());
  const port = Number(new URL(closing).port);
  await expect(read(closing, { own: [port] })).rejects.toThrow("leads back to this server");
  const said = await Promise.all(
    [closing, "http://127.0.0.1:6/"].map((url) => read(url).catch(({ message }) => message)),
  );
  expect(said[0]).toContain("cannot be reached");
});

it("of https:// the certificate is checked, with the name, and nothing leads from there to http://", async () => {
  const plain = await serve((_request, response) => response.end(TS));
  const answer: RequestListener = ({ url }, response) => {
    if (url === "/away") response.writeHead(302, { location: plain }).end();
    else response.writeHead(200, { "content-length": TS.byteLength }).end(TS);
  };
  const [trusted, stranger] = [await serve(answer, FIRST), await serve(answer, RENEWED)];
  expect(await read(trusted)).toEqual(TS);
  await expect(read(trusted.replace("127.0.0.1", "camera.example"))).rejects.toThrow("certificate is for another name");
  await expect(read(stranger)).rejects.toThrow("The source cannot be trusted: the host's certificate");
  await expect(read(`${trusted}/away`)).rejects.toThrow("leads from https:// to an address without it");
});

it("a live playlist that says its segments take no time is asked for twice a second at most", async () => {
  let reads = 0;
  const live = await serve(({ url = "" }, response) => {
    if (url !== "/live") return void response.end(TS);
    response.end(`#EXTM3U\n#EXT-X-TARGETDURATION:0.001\n#EXT-X-MEDIA-SEQUENCE:${reads++}\n#EXTINF:0.001,\n/s\n`);
  });
  const startedAt = performance.now();
  for await (const _ of pieces(`${live}/live`)) if (reads > 4) break;
  expect(performance.now() - startedAt).toBeGreaterThan(1_900);
});
