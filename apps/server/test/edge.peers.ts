import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FIRST } from "../src/platform/http/certificate.fixture.ts";
import { AccessWebhook } from "./support/access-webhook.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import { childOf, startGatedBroadcast, TokenSigner } from "./support/gated-broadcast.ts";
import { NginxEdge } from "./support/nginx-edge.ts";
import { WatchedProxy } from "./support/watched-proxy.ts";
import { WeirProcess } from "./support/weir-process.ts";

let weir: WeirProcess;
let behind: WatchedProxy;
let edge: NginxEdge;
let started: Promise<Broadcast> | null = null;
let signer: TokenSigner;

beforeAll(async () => {
  weir = await WeirProcess.start({
    env: { WEIR_PUBLIC_URL: "", WEIR_TRUSTED_PROXIES: "127.0.0.1", WEIR_ALLOW_PRIVATE_URLS: "1" },
  });
  behind = await WatchedProxy.start(weir.httpPort);
  edge = await NginxEdge.start(behind.port);
  signer = await TokenSigner.create(weir);
});
afterAll(async () => {
  await (await started)?.[Symbol.asyncDispose]();
  await edge?.[Symbol.asyncDispose]();
  await behind?.[Symbol.asyncDispose]();
  await weir?.[Symbol.asyncDispose]();
});

/** The broadcast shared by all tests. */
function live(): Promise<Broadcast> {
  started ??= startGatedBroadcast(weir, { seconds: 240 });
  return started;
}

/** URL of the source rendition's folder through the edge, for a new viewer. */
async function startViewer(by = signer): Promise<string> {
  const { playbackId } = (await live()).stream;
  const jwt = await by.sign(playbackId);
  const multivariant = `${edge.url}/hls/${playbackId}/index.m3u8`;
  const source = async () => {
    const text = await fetch(`${multivariant}?jwt=${jwt}`).then((answer) => answer.text());
    return /^s\/.*\/source\//m.exec(text)?.[0];
  };
  await expect.poll(source, { timeout: 15_000 }).toBeDefined();
  return new URL((await source()) ?? "", multivariant).href;
}

/** Name of a complete segment that the edge has not fetched yet. */
async function newSegment(folder: string): Promise<string> {
  let name = "";
  const isNew = async () => {
    // Number 0 only fills the list.
    name = (await textOf(`${folder}index.m3u8`)).match(/^[1-9]\d*\.m4s$/gm)?.at(-1) ?? "";
    return name !== "" && behind.timesAskedFor(`/${name}`) === 0;
  };
  await expect.poll(isNew, { timeout: 15_000, interval: 200 }).toBe(true);
  return name;
}

const textOf = (url: string) => fetch(url).then((answer) => answer.text());
async function bytesOf(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return Buffer.from(await answer.arrayBuffer());
}

test("a segment is fetched once for viewers with different tokens, and is identical for all, including ranges", async () => {
  const [one, other] = [await startViewer(), await startViewer()];
  expect(one).not.toBe(other);
  const name = await newSegment(one);
  const bytes = await bytesOf(one + name);
  expect(bytes.subarray(4, 8).toString()).toBe("moof");
  expect((await bytesOf(other + name)).equals(bytes)).toBe(true);
  const range = await fetch(other + name, { headers: { range: "bytes=100-199" } });
  expect([range.status, Buffer.from(await range.arrayBuffer()).equals(bytes.subarray(100, 200))]).toEqual([206, true]);
  expect(behind.timesAskedFor(`/${name}`)).toBe(1);
});

test("viewers that request a segment at the same moment share one fetch", async () => {
  const viewers = await Promise.all(Array.from({ length: 20 }, () => startViewer()));
  // New viewers, so that the edge has no cached decision about them.
  const name = await newSegment(await startViewer());
  let letGo = (): void => {};
  behind.hold = { path: new RegExp(`/${name}$`), until: new Promise((resolve) => (letGo = resolve)) };
  const answers = Promise.allSettled(viewers.map((viewer) => bytesOf(viewer + name)));
  const asksAbout = () => behind.asked.filter((url) => url.startsWith("?") && url.endsWith(`/${name}`)).length;
  await expect.poll(asksAbout, { timeout: 10_000 }).toBe(viewers.length);
  letGo();
  const bodies = (await answers).map((answer) =>
    answer.status === "fulfilled" ? answer.value.toString("base64") : "",
  );
  behind.hold = null;
  expect(bodies[0]?.length).toBeGreaterThan(1000);
  expect(new Set(bodies).size).toBe(1);
  expect(behind.timesAskedFor(`/${name}`)).toBe(1);
});

test("a blocking playlist response is passed on, and cached for later requests", async () => {
  const [one, other] = [await startViewer(), await startViewer()];
  const playlist = await textOf(`${one}index.m3u8`);
  const parts = [...playlist.matchAll(/URI="(\d+)\.(\d+)\.m4s"/g)];
  const [, msn, part] = parts.filter(([line]) => !line.includes("HINT")).at(-1) ?? [];
  const query = `index.m3u8?_HLS_msn=${msn}&_HLS_part=${part}`;
  const waited = await textOf(one + query);
  expect(waited).toContain(`URI="${msn}.${part}.m4s"`);
  expect(await textOf(other + query)).toBe(waited);
  expect(behind.timesAskedFor(query)).toBe(1);
});

test("of a list that goes back a whole list is cached, compressed for those who read it, and no delta update", async () => {
  await using broadcast = await startBroadcast(weir, { seconds: 120, stream: { profiles: [], dvr: "session" } });
  await broadcast.untilSegments(15, 60_000);
  const multivariant = `${edge.url}/hls/${broadcast.stream.playbackId}/index.m3u8?dvr=1`;
  const address = /^s\/.*\/source\/dvr\.m3u8$/m.exec(await textOf(multivariant))?.[0] ?? "";
  const list = new URL(address, multivariant).href;
  const newest = (await textOf(list)).match(/(?<=^d)\d+(?=\.m4s$)/gm)?.at(-1);
  const waits = `?_HLS_msn=${Number(newest) + 1}`;
  const delta = await textOf(`${list}${waits}&_HLS_skip=YES`);
  const whole = await textOf(list + waits);
  expect([delta, whole].map((text) => text.includes("#EXT-X-SKIP:"))).toEqual([true, false]);
  expect(whole).toMatch(/#EXTINF.*\nd1\.m4s\n/);
  expect(await textOf(`${list}${waits}&_HLS_skip=YES`)).toContain("#EXT-X-SKIP:");
  expect(await textOf(list + waits)).toBe(whole);
  expect(behind.timesAskedFor(`/dvr.m3u8${waits}`)).toBe(1);
  expect(behind.timesAskedFor(`/dvr.m3u8${waits}&_HLS_skip=YES`)).toBe(2);
  const plain = await fetch(list + waits, { headers: { "accept-encoding": "identity" } });
  expect(plain.headers.get("content-encoding")).toBe(null);
  expect(await plain.text()).toMatch(/#EXTINF.*\nd1\.m4s\n/);
});

test("over HTTP/2 the edge serves cached content, passes offers on, and tells Weir the scheme", async () => {
  const session = connectHttp2(edge.httpsUrl, { ca: FIRST.cert });
  const ask = async (path: string, headers: Record<string, string> = {}, body = "") => {
    const stream = session.request({ ":path": path, ...headers });
    const answered = once(stream, "response");
    if (body === "") stream.end();
    else stream.end(body);
    const [head] = await answered;
    return { status: head[":status"], head, body: await buffer(stream) };
  };
  const viewer = await startViewer();
  const { pathname } = new URL(viewer);
  const name = await newSegment(viewer);
  const overHttp2 = await ask(pathname + name);
  expect([overHttp2.status, overHttp2.body.equals(await bytesOf(viewer + name))]).toEqual([200, true]);
  expect(behind.timesAskedFor(`/${name}`)).toBe(1);
  const playlist = (await ask(`${pathname}index.m3u8`)).body.toString();
  const [, msn, part] = /PRELOAD-HINT:TYPE=PART,URI="(\d+)\.(\d+)/.exec(playlist) ?? [];
  const waited = await ask(`${pathname}index.m3u8?_HLS_msn=${msn}&_HLS_part=${part}`);
  expect(waited.body.toString()).toContain(`URI="${msn}.${part}.m4s"`);
  expect((await ask((pathname + name).replace(/\/s\/[^/]+/, "/s/-"))).status).toBe(401);
  const { stream } = await live();
  const offered = await ask(
    `/webrtc/${stream.playbackId}`,
    { ":method": "POST", "content-type": "application/sdp" },
    "x",
  );
  expect([offered.status, offered.body.toString()]).toEqual([400, expect.stringContaining("not a valid SDP offer")]);
  const info = JSON.parse((await ask(`/api/playback/${stream.playbackId}`)).body.toString());
  expect(info.meta.source[0].url).toBe(`${edge.httpsUrl}/hls/${stream.playbackId}/index.m3u8`);
  session.close();
});

test("without a valid token a viewer is refused cached content, with a phrase that players understand", async () => {
  const viewer = await startViewer();
  const name = await newSegment(viewer);
  await bytesOf(viewer + name);
  const token = /\/s\/([^/]+)\//.exec(viewer)?.[1] ?? "";
  for (const instead of ["-", "AQ", `${token}A`, token.toLowerCase()]) {
    const answer = await fetch((viewer + name).replace(token, instead), { headers: { origin: "https://site.test" } });
    expect(answer.status).toBe(401);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  }
  const playlist = await fetch(`${viewer}index.m3u8`.replace(token, "-"));
  expect([playlist.status, await playlist.text()]).toEqual([
    401,
    expect.stringContaining("#EXT-X-ERROR: Shutting down"),
  ]);
});

/** Status and body of an unchanged URL; `fetch` would normalize it. */
async function askAsWritten(path: string): Promise<{ status: number; answer: string }> {
  const socket = connect(Number(new URL(edge.url).port), "127.0.0.1");
  socket.write(`GET ${path} HTTP/1.1\r\nhost: edge.test\r\nconnection: close\r\n\r\n`, "latin1");
  const answer = (await buffer(socket)).toString("latin1");
  return { status: Number(answer.slice(9, 12)), answer };
}

const DOTS = "../".repeat(6);
const escaped = (path: string) => path.replaceAll(".", "%2e").replaceAll("/", "%2f");

test("no spelling of a URL yields cached content, or admits the next request", async () => {
  const viewer = await startViewer();
  const name = await newSegment(viewer);
  const bytes = (await bytesOf(viewer + name)).toString("latin1");
  await using open = await startBroadcast(weir, { seconds: 60 });
  const outside = `/hls/${open.stream.playbackId}/s/-/a/b/`;
  const plain = new URL(viewer + name).pathname.replace(/\/s\/[^/]+/, "/s/-");
  const target = plain.slice(1);
  const [head, middle] = [plain.slice(0, plain.lastIndexOf("/")), plain.split("/").slice(0, 5).join("/")];
  const spellings = [
    outside + escaped(DOTS) + escaped(target),
    outside + escaped(DOTS).toUpperCase() + escaped(target),
    outside + DOTS.replaceAll("/", "%2f") + target,
    outside + DOTS.replaceAll("/", "%2F") + target.replaceAll("/", "%2F"),
    outside + escaped(escaped(DOTS)).replaceAll("%", "%25") + target,
    outside + DOTS.replaceAll("/", "\\") + target,
    outside + DOTS.replaceAll("/", "%5c") + target,
    outside + DOTS + target,
    `${outside}${DOTS}${target}#.m4s`,
    `${outside}x.m4s?/../../${target}`,
    `http://edge.test${outside}${DOTS.replaceAll("/", "%2f")}${target}`,
    `${head}/./${name}`,
    `${head}//${name}`,
    `/${plain}`,
    `${head}/%31${name.slice(1)}`,
    `${head}/${name.replace(".", "%2e")}`,
    `${head}%2f${name}`,
    `${plain}%00`,
    `${plain}%00.m4s`,
    `${plain};a=b`,
    `${plain}%3fjwt=x`,
    `${plain}%20`,
    `${plain}/.`,
    `${plain}/x/..`,
    `${plain}#x`,
    `${plain}\\..\\${name}`,
    `/asset/..${plain}`,
    `/%68ls${plain.slice(4)}`,
    `/asset%2f${target}`,
    `/HLS${plain.slice(4)}`,
    middle + plain.slice(middle.length).replace("/source/", "/sourc%65/"),
    plain.replace("/s/-/", "/s/%2d/"),
    plain.replace("/s/-/", "/s/x%2f..%2f-/"),
    plain.replace("/s/-/", "/s/./-/"),
  ];
  for (const spelling of spellings) {
    const { status, answer } = await askAsWritten(spelling);
    expect([400, 401, 404], `${spelling} answered ${status}`).toContain(status);
    expect(answer.includes(bytes.slice(-200)), spelling).toBe(false);
    // It affects neither the canonical URL nor the viewer's own.
    expect((await askAsWritten(plain)).status, `after ${spelling}`).toBe(401);
  }
  expect((await bytesOf(viewer + name)).toString("latin1")).toBe(bytes);
  // Content of the public stream is still available to everyone.
  const own = await (await fetch(`${edge.url}/hls/${open.stream.playbackId}/index.m3u8`)).text();
  expect(own).toContain("source/index.m3u8");
});

test("a viewer's own header with another URL changes nothing", async () => {
  const viewer = await startViewer();
  const name = await newSegment(viewer);
  await bytesOf(viewer + name);
  const bare = (viewer + name).replace(/\/s\/[^/]+/, "/s/-");
  for (const header of ["x-original-uri", "X-Original-URI", "x_original_uri"]) {
    const answer = await fetch(bare, { headers: { [header]: new URL(viewer + name).pathname } });
    expect(answer.status).toBe(401);
  }
});

test("a decision about one query does not apply to another", async () => {
  const { playbackId } = (await live()).stream;
  const viewer = await startViewer();
  const name = await newSegment(viewer);
  await bytesOf(viewer + name);
  const bare = (viewer + name).replace(/\/s\/[^/]+/, "/s/-");
  const jwt = await signer.sign(playbackId);
  expect((await fetch(`${bare}?j%77t=${jwt}`)).status).toBe(200);
  expect((await fetch(`${bare}?a=b&jwt=${jwt}`)).status).toBe(200);
  for (const query of ["", "?jwt=x", "?JWT=x", "?a=b", `?a=b&_HLS_msn=1`])
    expect((await fetch(bare + query)).status).toBe(401);
});

test("credentials in headers work through the edge, only for the viewer who sends them", async () => {
  const viewer = await startViewer();
  const url = (viewer + (await newSegment(viewer))).replace(/\/s\/[^/]+\//, "/s/-/");
  const headers = { "service-jwt": await signer.sign((await live()).stream.playbackId) };
  expect((await fetch(url, { headers })).status).toBe(200);
  expect((await fetch(url)).status).toBe(401);
  const preflight = await fetch(url, { method: "OPTIONS", headers: { origin: "https://site.test" } });
  expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
});

test("a viewer whose key was disabled is refused cached content within ten seconds", async () => {
  const another = await TokenSigner.create(weir);
  const [viewer, bystander] = [await startViewer(another), await startViewer()];
  const name = await newSegment(viewer);
  const status = async (folder: string) => (await fetch(folder + name)).status;
  expect([await status(viewer), await status(bystander)]).toEqual([200, 200]);
  await another.disable();
  await expect.poll(() => status(viewer), { timeout: 10_000, interval: 200 }).toBe(401);
  expect(await status(bystander)).toBe(200);
});

test("viewers behind the edge are counted", async () => {
  const { playbackId } = (await live()).stream;
  await startViewer();
  const watching = async () => {
    const answer = await fetch(`${weir.url}/data/views/now?playbackId=${playbackId}`, {
      headers: { authorization: `Bearer ${weir.apiKey}` },
    });
    const [views] = (await answer.json()) as { viewCount: number }[];
    return views?.viewCount ?? 0;
  };
  await expect.poll(watching, { timeout: 20_000 }).toBeGreaterThan(0);
});

test("a viewer with an access key of 8 KiB plays through the edge, which asks about them every three seconds", async () => {
  await using customer = await AccessWebhook.start();
  const accessKey = "Az09-_.~".repeat(1_024);
  customer.allowed.add(accessKey);
  const { id: webhookId } = await weir.client.webhooks.create({
    name: "gate",
    url: customer.url,
    events: ["playback.accessControl"],
  });
  const playbackPolicy = { type: "webhook", webhookId } as const;
  await using broadcast = await startBroadcast(weir, { seconds: 60, stream: { profiles: [], playbackPolicy } });
  const headers = { "service-access-key": accessKey };
  const multivariant = `${edge.url}/hls/${broadcast.stream.playbackId}/index.m3u8`;
  const child = await childOf(`${multivariant}?accessKey=${accessKey}`);
  const init = new URL(/init-[0-9a-f]+\.mp4/.exec(await textOf(child))?.[0] ?? "", child).href;
  const { pathname } = new URL(init);
  const asks = () => behind.asked.filter((url) => url === `? ${pathname}`).length;
  for (let times = 0; times < 5; times++) expect((await fetch(init, { headers })).status).toBe(200);
  expect(asks()).toBeLessThanOrEqual(2);
  const bare = init.replace(/\/s\/[^/]+/, "/s/-");
  expect([(await fetch(bare, { headers })).status, (await fetch(bare)).status]).toEqual([200, 401]);
});
