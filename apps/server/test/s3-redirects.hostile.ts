import { createHash, createHmac } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type S3TestServer, startS3TestServer } from "../src/platform/storage/s3-test-server.ts";
import { type Broadcast, startBroadcast } from "./support/broadcast.ts";
import { TokenSigner } from "./support/gated-broadcast.ts";
import { listedRenditions, listedSegments } from "./support/live-renditions.ts";
import { WeirProcess } from "./support/weir-process.ts";

/** Attacks on `WEIR_S3_REDIRECTS`: addresses of the store that a viewer gets for 60 s. */

const SECONDS = 6;
const DISABLED_WITHIN_MS = 10_000;

let s3: S3TestServer;
let weir: WeirProcess;
let signer: TokenSigner;
beforeAll(async () => {
  s3 = await startS3TestServer();
  weir = await WeirProcess.start({ env: { ...s3.env, WEIR_S3_REDIRECTS: "1" } });
  signer = await TokenSigner.create(weir);
});
afterAll(async () => {
  await weir?.[Symbol.asyncDispose]();
  await s3?.close();
});

interface GatedRecording {
  readonly broadcast: Broadcast;
  readonly recordingUrl: string;
  /** Of a viewer with a token. */
  readonly segmentUrl: string;
  readonly playlistUrl: string;
}

async function gatedRecording(): Promise<GatedRecording> {
  await using broadcast = await startBroadcast(weir, {
    seconds: SECONDS,
    stream: { record: true, profiles: [], playbackPolicy: { type: "jwt" } },
  });
  expect(await broadcast.publisher.ended).toBe(null);
  const { recordingUrl } = await broadcast.recorded();
  const playbackId = new URL(recordingUrl).pathname.split("/").at(-2) ?? "";
  const jwt = await signer.sign(playbackId);
  const [rendition] = await listedRenditions(`${recordingUrl}?jwt=${jwt}`);
  const [segment] = await listedSegments(rendition?.url ?? "");
  return { broadcast, recordingUrl, segmentUrl: segment?.url ?? "", playlistUrl: rendition?.url ?? "" };
}

const ask = (url: string, init: RequestInit = {}): Promise<Response> => fetch(url, { redirect: "manual", ...init });

async function placeOf(url: string): Promise<URL> {
  const answer = await ask(url);
  expect(answer.status).toBe(307);
  return new URL(answer.headers.get("location") ?? "");
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** What a store checks: AWS Signature Version 4 in query parameters, of exactly this request. */
function isSigned(method: string, address: string): boolean {
  const url = new URL(address);
  const given = url.searchParams.get("X-Amz-Signature");
  url.searchParams.delete("X-Amz-Signature");
  const encoded = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  const query = [...url.searchParams].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).sort();
  const canonical = [method, url.pathname, query.join("&"), `host:${url.host}`, "", "host", "UNSIGNED-PAYLOAD"].join(
    "\n",
  );
  const at = url.searchParams.get("X-Amz-Date") ?? "";
  const scope = [at.slice(0, 8), s3.settings.region, "s3", "aws4_request"];
  const text = ["AWS4-HMAC-SHA256", at, scope.join("/"), createHash("sha256").update(canonical).digest("hex")].join(
    "\n",
  );
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${s3.settings.secretAccessKey.reveal()}`);
  return given === hmac(key, text).toString("hex");
}

test("nobody without access gets an address of the store, whatever they ask for", async () => {
  const mine = await gatedRecording();
  const other = await gatedRecording();
  const bare = mine.segmentUrl.replace(/\/s\/[^/]+\//, "/s/-/");
  expect(bare).not.toBe(mine.segmentUrl);
  const foreign = /\/s\/([^/]+)\//.exec(other.segmentUrl)?.[1] ?? "";
  const attempts = [
    mine.recordingUrl,
    bare,
    `${bare}?jwt=a.b.c`,
    // With the address of a viewer of something else.
    mine.segmentUrl.replace(/\/s\/[^/]+\//, `/s/${foreign}/`),
    // What a viewer may see, and another recording behind it.
    mine.segmentUrl.replace(/[^/]+\.m4s$/, "..%2f..%2findex.jsonl"),
    mine.segmentUrl.replace(/[^/]+\.m4s$/, "index-0-0000000001.jsonl"),
    mine.segmentUrl.replace(/[^/]+$/, other.segmentUrl.split("/").slice(-3).join("%2f")),
  ];
  for (const url of attempts) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await ask(url, { method });
      expect([url, answer.status, answer.headers.get("location")]).toEqual([url, expect.any(Number), null]);
      expect(answer.status).toBeGreaterThanOrEqual(400);
      await answer.arrayBuffer();
    }
  }
  expect((await ask(mine.segmentUrl, { method: "HEAD" })).headers.get("location")).toBeNull();
});

test("an address of the store reads one object for a minute, and nothing else", async () => {
  const { segmentUrl } = await gatedRecording();
  const answer = await ask(segmentUrl);
  expect(answer.headers.get("cache-control")).toMatch(/no-store|private/);
  const place = await placeOf(segmentUrl);
  expect(Number(place.searchParams.get("X-Amz-Expires"))).toBeLessThanOrEqual(60);
  const media = await fetch(place);
  expect([media.status, Buffer.from(await media.arrayBuffer()).includes("moof")]).toEqual([200, true]);

  const changed = (change: (url: URL) => void): string => {
    const url = new URL(place);
    change(url);
    return url.href;
  };
  expect(isSigned("GET", place.href)).toBe(true);
  const refused: readonly (readonly [method: string, url: string])[] = [
    ["PUT", place.href],
    ["DELETE", place.href],
    ["GET", changed((url) => url.searchParams.set("X-Amz-Expires", "604800"))],
    ["GET", changed((url) => url.searchParams.set("X-Amz-Date", "20200101T000000Z"))],
    ["GET", changed((url) => url.searchParams.set("response-content-type", "text/html"))],
    ["GET", changed((url) => url.searchParams.delete("X-Amz-Signature"))],
    ["GET", changed((url) => (url.pathname = url.pathname.replace(/[^/]+$/, "other.m4s")))],
    ["GET", changed((url) => (url.pathname = `/${s3.settings.bucket}`))],
  ];
  expect(refused.filter(([method, url]) => isSigned(method, url))).toEqual([]);
  const again = await fetch(place);
  expect(Buffer.from(await again.arrayBuffer()).includes("moof")).toBe(true);
  expect(weir.log).not.toContain(place.searchParams.get("X-Amz-Signature") ?? "a signature");
});

test("a viewer whose key is disabled gets no further address of the store", async () => {
  const { segmentUrl } = await gatedRecording();
  await placeOf(segmentUrl);
  await signer.disable();
  const status = async () => (await ask(segmentUrl)).status;
  await expect.poll(status, { timeout: DISABLED_WITHIN_MS, interval: 200 }).toBe(401);
  expect((await ask(segmentUrl)).headers.get("location")).toBeNull();
});
