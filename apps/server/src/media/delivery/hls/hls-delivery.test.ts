import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MediaRig, until } from "../../testing/media-rig.ts";

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
});
afterEach(() => rig[Symbol.asyncDispose]());

const LIVE = "/hls/playstream1";
const SOURCE = `${LIVE}/s/-/session-1/source`;
const AUDIO = `${LIVE}/s/-/session-1/audio`;

async function broadcast(seconds: number) {
  const { publication } = rig.publish();
  await rig.send(publication, { seconds });
  return publication;
}

/** Sends the path unchanged. */
function raw(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string; caching: string | undefined }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(rig.url("/"));
    const req = request({ hostname, port, path, headers }, (res) => {
      let body = "";
      res.on("data", (chunk) => {
        body += chunk;
      });
      res.on("end", () => resolve({ status: res.statusCode ?? 0, body, caching: res.headers["cache-control"] }));
    });
    req.on("error", reject).end();
  });
}

/** An answer of which the client has read the head. */
async function unread(path: string): Promise<IncomingMessage> {
  const sent = request(rig.url(path)).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer;
}

describe("a live stream", () => {
  test("plays from its multivariant playlist, under both prefixes", async () => {
    await broadcast(3);
    const playlist = await rig.text(`${LIVE}/index.m3u8`);
    expect(playlist).toMatch(/^#EXTM3U\n/);
    expect(playlist).toContain(
      'TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="s/-/session-1/audio/index.m3u8"',
    );
    expect(playlist).toMatch(
      /CODECS="avc1\.42c016,mp4a\.40\.2",RESOLUTION=640x360,FRAME-RATE=30\.000,VIDEO-RANGE=SDR,AUDIO="audio"\ns\/-\/session-1\/source\/index\.m3u8\n$/,
    );
    expect(await rig.text("/asset/hls/playstream1/index.m3u8")).toBe(playlist);
    expect(await rig.text(`/asset${SOURCE}/index.m3u8`)).toContain("#EXT-X-MAP");
  });

  test("serves a segment as exactly the bytes of its parts, and immutable files with endless caching", async () => {
    await broadcast(5);
    const parts = await Promise.all([0, 1, 2, 3, 4, 5].map((part) => rig.bytes(`${SOURCE}/1.${part}.m4s`)));
    const segment = await rig.fetch(`${SOURCE}/1.m4s`);
    expect(Buffer.from(await segment.arrayBuffer())).toEqual(Buffer.concat(parts));
    expect(segment.headers.get("cache-control")).toContain("immutable");
    expect(segment.headers.get("access-control-allow-origin")).toBe("*");
    const init = /init-[0-9a-f]+\.mp4/.exec(await rig.text(`${AUDIO}/index.m3u8`))?.[0];
    expect((await rig.bytes(`${AUDIO}/${init}`)).subarray(4, 8).toString()).toBe("ftyp");
    expect((await rig.fetch(`${AUDIO}/${init}`)).headers.get("content-type")).toBe("audio/mp4");
  });

  test("reaches a slow reader whole, long after the segment is gone and its memory holds others", async () => {
    const { publication } = rig.publish();
    // More than the system's own buffers take.
    await rig.send(publication, { seconds: 2.1, frameBytes: 150_000 });
    const whole = await rig.bytes(`${SOURCE}/1.m4s`);
    const answer = await unread(`${SOURCE}/1.m4s`);
    await rig.send(publication, { seconds: 60, clockAt: 2.1, frameBytes: 20_000 });
    expect((await rig.fetch(`${SOURCE}/1.m4s`)).status).toBe(404);
    expect(Buffer.concat(await answer.toArray()).equals(whole)).toBe(true);
  });

  test("serves one range of a segment, and 416 for an unsatisfiable one", async () => {
    await broadcast(5);
    const whole = await rig.bytes(`${SOURCE}/1.m4s`);
    const middle = await rig.fetch(`${SOURCE}/1.m4s`, { headers: { range: "bytes=500-2499" } });
    expect(middle.status).toBe(206);
    expect(middle.headers.get("content-range")).toBe(`bytes 500-2499/${whole.length}`);
    expect(Buffer.from(await middle.arrayBuffer())).toEqual(whole.subarray(500, 2500));
    const status = async (range: string) => (await rig.fetch(`${SOURCE}/1.m4s`, { headers: { range } })).status;
    expect(await status("bytes=0-")).toBe(206);
    expect(await status("bytes=-1")).toBe(206);
    expect(await status("bytes=5-4")).toBe(416);
    expect(await status("bytes=99999999999999-")).toBe(416);
    expect(await status(`bytes=${Array.from({ length: 1000 }, (_, i) => `${i}-${i}`).join(",")}`)).toBe(200);
  });

  test("holds a blocking request until its part, and no longer", async () => {
    const publication = await broadcast(3);
    let answered = false;
    const blocked = rig.text(`${SOURCE}/index.m3u8?_HLS_msn=2&_HLS_part=4`).then((text) => {
      answered = true;
      return text;
    });
    await rig.text(`${SOURCE}/index.m3u8?_HLS_msn=2&_HLS_part=1`);
    expect(answered).toBe(false);
    await rig.send(publication, { seconds: 2, clockAt: 3 });
    expect(await blocked).toContain('URI="2.4.m4s"');
  });

  test("holds a request for the hinted part until it exists", async () => {
    const publication = await broadcast(3);
    const hint = /PRELOAD-HINT:TYPE=PART,URI="([^"]+)"/.exec(await rig.text(`${SOURCE}/index.m3u8`))?.[1];
    const part = rig.bytes(`${SOURCE}/${hint}`);
    await rig.send(publication, { seconds: 1, clockAt: 3 });
    expect((await part).subarray(4, 8).toString()).toBe("moof");
  });

  test.each(["away", "silent"])(
    "answers a blocking request within 0.8 target durations of a source that is %s",
    async (how) => {
      const publication = await broadcast(3);
      if (how === "away") publication.end("source-lost", "the connection broke");
      const blocked = rig.text(`${SOURCE}/index.m3u8?_HLS_msn=2&_HLS_part=9`);
      await expect.poll(() => rig.plane.figures.waitingRequests).toBe(1);
      rig.clock.advance(1_600);
      expect(await blocked).toContain("1.m4s");
    },
  );

  test("an edge may cache the response to a blocking request, a player may not", async () => {
    await broadcast(3);
    const caching = async (query: string) =>
      (await rig.fetch(`${SOURCE}/index.m3u8${query}`)).headers.get("cache-control");
    expect(await caching("?_HLS_msn=2&_HLS_part=1")).toBe("public, max-age=0, s-maxage=4");
    expect(await caching("")).toBe("public, max-age=0, must-revalidate");
  });

  test("answers five hundred blocking requests with the same list", async () => {
    const publication = await broadcast(3);
    const blocked = Array.from({ length: 500 }, () => rig.text(`${SOURCE}/index.m3u8?_HLS_msn=2&_HLS_part=3`));
    await rig.text(`${SOURCE}/index.m3u8`);
    await rig.send(publication, { seconds: 1, clockAt: 3 });
    const bodies = new Set(await Promise.all(blocked));
    expect(bodies.size).toBeLessThanOrEqual(2);
  });

  test.each([
    ["_HLS_msn=99999", 400],
    ["_HLS_msn=-1", 400],
    ["_HLS_msn=NaN", 400],
    ["_HLS_msn=1e3", 400],
    ["_HLS_part=0", 400],
    ["_HLS_msn=1&_HLS_part=x", 400],
    ["_HLS_msn=0", 200],
    ["_HLS_msn=1", 200],
    ["_HLS_msn=1&_HLS_msn=0", 400],
    ["_hls_msn=9&_HLS_msn=0", 400],
    ["%5FHLS_msn=0&_HLS_msn=99999", 400],
    ["tkn=abcdefghijklmnopqrstuv&unknown=1", 200],
  ])("78: answers ?%s with %i", async (query, status) => {
    await broadcast(3);
    expect((await rig.fetch(`${SOURCE}/index.m3u8?${query}`)).status).toBe(status);
  });

  test.each(["#&_HLS_msn=0", "%5FHLS_msn=0", "_hls_msn=9&_HLS_msn=0"])(
    "lets no cache keep for others what ?%s means, which a cache may read otherwise",
    async (query) => {
      await broadcast(3);
      const { caching } = await raw(`${SOURCE}/index.m3u8?${query}`);
      expect(caching).toMatch(/no-store|max-age=0/);
    },
  );

  test.each(["source", "audio"])("answers a joining player once a segment of %s is complete", async (name) => {
    const publication = await broadcast(1.5);
    const playlist = `${LIVE}/s/-/session-1/${name}/index.m3u8`;
    const joined = rig.text(playlist);
    expect(await rig.text(`${playlist}?_HLS_msn=1&_HLS_part=0`)).not.toContain("\n1.m4s");
    await rig.send(publication, { seconds: 1, clockAt: 1.5 });
    expect(await joined).toContain("\n1.m4s");
  });

  test("gives a joining player the current list if no segment completes within a target duration and a second", async () => {
    await broadcast(1.5);
    const joined = rig.text(`${SOURCE}/index.m3u8`);
    await expect.poll(() => rig.plane.figures.waitingRequests).toBe(1);
    rig.clock.advance(3_000);
    expect(await joined).toMatch(/EXT-X-PART:/);
  });

  test("lists no gap before the first segment if every player's first playlist contained it", async () => {
    const publication = await broadcast(1.5);
    const joined = rig.text(`${SOURCE}/index.m3u8`);
    await rig.send(publication, { seconds: 1, clockAt: 1.5 });
    for (const text of [await joined, await rig.text(`${SOURCE}/index.m3u8?_HLS_msn=2&_HLS_part=0`)]) {
      expect(text).toContain("#EXT-X-MEDIA-SEQUENCE:1\n");
      expect(text).not.toContain("#EXT-X-GAP");
    }
  });

  test("keeps the leading gap listed until two segments exist, and serves it as an empty box", async () => {
    const publication = await broadcast(1.5);
    const listed = async (query = "") =>
      [...(await rig.text(`${SOURCE}/index.m3u8${query}`)).matchAll(/^\d+\.m4s$/gm)].map(String);
    expect(await listed("?_HLS_msn=1&_HLS_part=0")).toEqual(["0.m4s"]);
    await rig.send(publication, { seconds: 1, clockAt: 1.5 });
    expect(await listed()).toEqual(["0.m4s", "1.m4s"]);
    await rig.send(publication, { seconds: 2, clockAt: 2.5 });
    expect(await listed()).toEqual(["1.m4s", "2.m4s"]);
    const gap = await rig.fetch(`${SOURCE}/0.m4s`);
    expect([gap.status, await gap.text()]).toEqual([200, "\0\0\0\x08free"]);
  });

  test("without a session is reported with the phrase that players recognize", async () => {
    const answer = await rig.fetch(`${LIVE}/index.m3u8`);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("#EXTM3U\n#EXT-X-ERROR: Stream is offline\n#EXT-X-ENDLIST\n");
  });

  test("asks the gate once for concurrent requests, and again after five seconds", async () => {
    await broadcast(3);
    await Promise.all(Array.from({ length: 50 }, () => rig.text(`${SOURCE}/index.m3u8`)));
    expect(rig.playbackGate.opened.length).toBe(1);
    rig.clock.advance(5001);
    await rig.text(`${SOURCE}/index.m3u8`);
    expect(rig.playbackGate.opened.length).toBe(2);
  });
});

describe("refused requests", () => {
  test("a client denied 600 times in a minute gets 429 with Retry-After; others are not affected", async () => {
    const from = (client: string) => ({ headers: { "x-forwarded-for": client } });
    for (let i = 0; i < 650; i++) await rig.bytes(`/hls/unknown${i}/index.m3u8`, from("203.0.113.66"));
    const answer = await rig.fetch("/hls/unknown/index.m3u8", from("203.0.113.66"));
    expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("cache-control")]).toEqual([
      429,
      "1",
      "private, no-store",
    ]);
    expect((await rig.fetch("/hls/unknown/index.m3u8", from("203.0.113.7"))).status).toBe(401);
  });

  test("a deleted recording is 404, and 401 to an edge, which treats other statuses as errors", async () => {
    rig.playbackGate.gone.add("recording1");
    for (const file of ["index.m3u8", "staticsource.mp4", "s/-/session-1/source/index.m3u8"]) {
      const address = `/asset/hls/recording1/${file}`;
      expect((await rig.fetch(address)).status).toBe(404);
      const asked = await rig.fetch("/hls/authorize", { headers: { "x-original-uri": address } });
      expect(asked.status).toBe(401);
    }
  });

  test("an unknown id and a gated one get the same 401, on every kind of URL", async () => {
    for (const path of [
      "index.m3u8",
      "s/-/session-1/source/index.m3u8",
      "s/-/session-1/source/1.m4s",
      "staticsource.mp4",
    ]) {
      const [one, other] = await Promise.all(["unknownid1", "gatedid1"].map((id) => rig.fetch(`/hls/${id}/${path}`)));
      expect([one?.status, other?.status]).toEqual([401, 401]);
      expect(await one?.text()).toBe(await other?.text());
    }
    expect(await rig.text("/hls/unknownid1/index.m3u8")).toContain(
      "#EXT-X-ERROR: Shutting down since this session is not allowed",
    );
  });

  test.each([
    "/hls/playstream1/../../../etc/passwd",
    "/hls/playstream1/%2e%2e/%2e%2e/etc/passwd",
    "/hls/playstream1/s/-/session-1/source/%252e%252e",
    "/hls/playstream1/s/-/session-1/source/..",
    "/hls/playstream1/s/-/session-1/source/..\\..\\1.m4s",
    "/hls/playstream1/s/-/session-1/source/1.m4s%00.mp4",
    "/hls//etc/passwd",
    `/hls/playstream1/s/-/session-1/source/${"9".repeat(5000)}.m4s`,
    "/hls/playstream1/s/-/session-1/source/01e5.m4s",
    "/hls/playstream1/s/-/session-1/nothing/index.m3u8",
    "/hls/playstream1/s/-/other-session/source/index.m3u8",
  ])("75: %s is not found", async (path) => {
    await broadcast(3);
    expect((await raw(path)).status).toBe(404);
  });

  test("other methods are refused, and preflights allowed", async () => {
    expect((await rig.fetch(`${LIVE}/index.m3u8`, { method: "POST" })).status).toBe(405);
    const preflight = await rig.fetch(`${LIVE}/index.m3u8`, { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("Service-Jwt");
  });
});

describe("a recording", () => {
  async function record(seconds: number): Promise<void> {
    rig.publishGate.nextStart = { sessionId: "session-1", record: true };
    const publication = await broadcast(seconds);
    publication.end("clean-stop", "FCUnpublish");
    await until(() => rig.facts.of("span-sealed").length === 2, "both spans");
  }

  test("plays from byte ranges of its spans, with exactly the live media in one fragment", async () => {
    rig.publishGate.nextStart = { sessionId: "session-1", record: true };
    const publication = await broadcast(7);
    const live = await rig.bytes(`${SOURCE}/2.m4s`);
    publication.end("clean-stop", "FCUnpublish");
    await until(() => rig.facts.of("span-sealed").length === 2, "both spans");
    expect(await rig.text("/asset/hls/recording1/index.m3u8")).toContain("s/-/session-1/source/index.m3u8");
    const playlist = await rig.text("/asset/hls/recording1/s/-/session-1/source/index.m3u8");
    expect(playlist).toMatch(/#EXT-X-PLAYLIST-TYPE:VOD\n.*#EXT-X-ENDLIST\n$/s);
    expect(playlist.match(/#EXTINF:/g)?.length).toBe(4);
    const [, length, offset, span] = /2\.00000,\n#EXT-X-BYTERANGE:(\d+)@([1-9]\d*)\n(\S+)/.exec(playlist) ?? [];
    const range = `bytes=${offset}-${Number(offset) + Number(length) - 1}`;
    // A span's size comes from the index only, because the object store may be remote.
    const size = vi.spyOn(rig.store, "size");
    const stored = await rig.bytes(`/asset/hls/recording1/s/-/session-1/source/${span}`, { headers: { range } });
    expect(size).not.toHaveBeenCalled();
    expect(boxes(stored, "moof")).toHaveLength(1);
    expect(Buffer.concat(boxes(stored, "mdat")).equals(Buffer.concat(boxes(live, "mdat")))).toBe(true);
  });

  test("is one MP4 with both tracks, an index, and any range", async () => {
    await record(5);
    const whole = await rig.bytes("/asset/hls/recording1/staticsource.mp4");
    const boxes: string[] = [];
    for (let at = 0; at < whole.length; at += whole.readUInt32BE(at))
      boxes.push(whole.toString("latin1", at + 4, at + 8));
    expect(boxes.slice(0, 5)).toEqual(["ftyp", "moov", "sidx", "sidx", "moof"]);
    expect(boxes.filter((box) => box === "moof").length).toBe(boxes.filter((box) => box === "mdat").length);
    expect(rig.catalogue.mp4Sizes.get("session-1")).toBe(whole.length);
    for (const [start, end] of [
      [0, 99],
      [1000, 60_000],
      [whole.length - 500, whole.length - 1],
    ] as const) {
      const part = await rig.bytes("/asset/hls/recording1/staticsource.mp4", {
        headers: { range: `bytes=${start}-${end}` },
      });
      expect(part.equals(whole.subarray(start, end + 1))).toBe(true);
    }
  });

  test("has an MP4 whose size is known before it is requested", async () => {
    await record(3);
    rig.plane.measureRecording({ kind: "recording", id: "session-1", projectId: "project-1" });
    const size = () => rig.catalogue.mp4Sizes.get("session-1");
    await until(() => size() !== undefined, "a size");
    expect(size()).toBe((await rig.bytes("/asset/hls/recording1/staticsource.mp4")).length);
  });

  test("has ETags: cached content is not sent again, and no range of changed content is sent", async () => {
    await record(3);
    const folder = "/asset/hls/recording1/s/-/session-1/source";
    const span = /^\d+-\d+\.m4s$/m.exec(await rig.text(`${folder}/index.m3u8`))?.[0];
    for (const path of [`${folder}/index.m3u8`, `${folder}/${span}`, "/asset/hls/recording1/staticsource.mp4"]) {
      const etag = (await rig.fetch(path)).headers.get("etag") ?? "";
      expect((await rig.fetch(path, { headers: { "if-none-match": `"other", ${etag}` } })).status).toBe(304);
      expect((await rig.fetch(path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
      if (path.endsWith(".m3u8")) continue;
      const range = "bytes=10-19";
      expect((await rig.fetch(path, { headers: { range, "if-range": etag } })).status).toBe(206);
      expect((await rig.fetch(path, { headers: { range, "if-range": '"other"' } })).status).toBe(200);
    }
  });

  test("has playlists that are compressed if accepted, with Vary", async () => {
    await record(3);
    const path = "/asset/hls/recording1/s/-/session-1/source/index.m3u8";
    const texts = new Set<string>();
    for (const coding of ["br", "gzip", null]) {
      const answer = await rig.fetch(path, { headers: { "accept-encoding": coding ?? "identity" } });
      expect([answer.headers.get("content-encoding"), answer.headers.get("vary")]).toEqual([coding, "accept-encoding"]);
      texts.add(await answer.text());
    }
    expect([...texts]).toEqual([expect.stringContaining("#EXT-X-ENDLIST")]);
  });

  test("is read by no more responses than slots, and a client that leaves frees its slot", async () => {
    await record(3);
    // Its head is made from init segments.
    await rig.bytes("/asset/hls/recording1/staticsource.mp4");
    const reads = vi.spyOn(rig.store, "read").mockImplementation(async () => new PassThrough());
    const clients = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const leave = new AbortController();
        void rig.fetch("/asset/hls/recording1/staticsource.mp4?", { signal: leave.signal }).catch(() => {});
        return leave;
      }),
    );
    await until(() => reads.mock.calls.length === 100, "100 reads");
    const one = () => rig.fetch("/asset/hls/recording1/staticsource.mp4", { headers: { range: "bytes=0-9" } });
    expect((await one()).status).toBe(503);
    clients[0]?.abort();
    await until(async () => (await one()).status === 206, "a place");
    for (const client of clients) client.abort();
  });

  test("in the spool of a killed process is sealed at the next start, without the open segment", async () => {
    rig.publishGate.nextStart = { sessionId: "session-1", record: true };
    await broadcast(7);
    await until(() => rig.facts.of("segment-closed").length === 3, "three recorded segments");
    const before = rig.facts.of("segment-closed").flatMap(({ recorded }) => recorded);
    rig.facts.facts.length = 0;
    await rig.restart();
    await until(() => rig.facts.of("span-sealed").length === 2, "both spans");
    expect(rig.facts.of("segment-closed").flatMap(({ recorded }) => recorded)).toEqual(before);
    const mp4 = await rig.bytes("/asset/hls/recording1/staticsource.mp4");
    expect(mp4.includes("moof")).toBe(true);
  });

  test("is not found by other names", async () => {
    await record(3);
    for (const name of ["nope.m4s", "init-00000000.mp4", "journal.jsonl"]) {
      expect((await rig.fetch(`/asset/hls/recording1/s/-/session-1/source/${name}`)).status).toBe(404);
    }
    expect((await raw("/asset/hls/recording1/s/-/session-1/source/..%2findex-1.json")).status).toBe(404);
  });
});

/** The contents of the outermost boxes of one type. */
function boxes(bytes: Buffer, type: string): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.byteLength; at += bytes.readUInt32BE(at)) {
    if (bytes.toString("latin1", at + 4, at + 8) === type)
      found.push(bytes.subarray(at + 8, at + bytes.readUInt32BE(at)));
  }
  return found;
}
