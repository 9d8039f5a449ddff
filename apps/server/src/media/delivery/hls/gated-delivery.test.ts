import { request } from "node:http";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MediaRig, until } from "../../testing/media-rig.ts";

let rig: MediaRig;
beforeEach(async () => {
  rig = await MediaRig.open();
  rig.playbackGate.policy = "jwt";
});
afterEach(() => rig[Symbol.asyncDispose]());

const LIVE = "/hls/playstream1";
const RECORDING = "/asset/hls/recording1";
const DENIED = "Shutting down since this session is not allowed to view this stream";

async function broadcast(seconds = 5, record = false) {
  rig.publishGate.nextStart = { record };
  const { publication } = rig.publish();
  await rig.send(publication, { seconds });
  return publication;
}

/** A short recording. */
async function recorded(): Promise<void> {
  const publication = await broadcast(5, true);
  publication.end("clean-stop", "FCUnpublish");
  await until(() => rig.facts.of("span-sealed").length === 2, "both spans");
}

const status = async (path: string, headers: Record<string, string> = {}) =>
  (await rig.fetch(path, { headers })).status;

/** Sends the URL unchanged; `fetch` would normalize it. */
function rawStatus(path: string, headers: readonly string[] = []): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(rig.url("/"));
    const req = request({ hostname, port, path, headers: ["host", host, ...headers] }, (res) => {
      res.resume();
      resolve(res.statusCode);
    });
    req.on("error", reject).end();
  });
}

/** Init segments are readable, because the head of an MP4 is made from them. */
function neverReadSpans(): void {
  const read = rig.store.read.bind(rig.store);
  vi.spyOn(rig.store, "read").mockImplementation(async (key) =>
    key.includes("/init-") ? read(key) : new Readable({ read() {} }),
  );
}

describe("gated content", () => {
  test("URLs in its playlists suffice for everything else; URLs without the token are refused", async () => {
    await broadcast();
    const source = await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
    const playlist = await rig.text(`${source}/index.m3u8`);
    const init = /init-[0-9a-f]+\.mp4/.exec(playlist)?.[0];
    for (const file of [init, "1.m4s", "1.0.m4s", "index.m3u8?_HLS_msn=1&_HLS_part=0"])
      expect(await status(`${source}/${file}`)).toBe(200);
    const bare = source.replace(/\/s\/[^/]+/, "/s/-");
    for (const file of ["index.m3u8", init, "1.m4s", "1.0.m4s"]) expect(await status(`${bare}/${file}`)).toBe(401);
    expect(rig.playbackGate.opened.filter(({ tokens }) => tokens.length > 0).length).toBe(1);
  });

  test("media playlists are identical for all viewers, gated or public", async () => {
    await broadcast();
    const [one, other] = [
      await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`),
      await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`),
    ];
    expect(one).not.toBe(other);
    const playlist = await rig.text(`${one}/index.m3u8`);
    expect(await rig.text(`${other}/index.m3u8`)).toBe(playlist);
    rig.playbackGate.policy = "public";
    rig.plane.accessChanged("all");
    expect(await rig.text(`${await rig.sourceOf(`${LIVE}/index.m3u8`)}/index.m3u8`)).toBe(playlist);
  });

  test.each([
    ["jwt", "service-jwt"],
    ["jwt", "livepeer-jwt"],
    ["webhook", "service-access-key"],
    ["webhook", "livepeer-access-key"],
  ] as const)(
    "plays by %s with the header %s on every request, at addresses without a token",
    async (policy, header) => {
      await broadcast();
      rig.playbackGate.policy = policy;
      const headers = { [header]: "good" };
      const source = await rig.sourceOf(`${LIVE}/index.m3u8`, headers);
      expect(await status(`${source}/index.m3u8`, headers)).toBe(200);
      const bare = source.replace(/\/s\/[^/]+/, "/s/-");
      const before = rig.playbackGate.opened.length;
      const answers = ["index.m3u8", "1.m4s", "1.0.m4s", "1.1.m4s"].map((file) => status(`${bare}/${file}`, headers));
      expect(await Promise.all(answers)).toEqual([200, 200, 200, 200]);
      expect(rig.playbackGate.opened.length - before).toBeLessThanOrEqual(1);
      expect(await status(`${bare}/1.m4s`, { [header]: "bad" })).toBe(401);
    },
  );

  test("its session costs one look-up per request, and is re-validated in the background", async () => {
    await broadcast();
    const source = await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
    await Promise.all(Array.from({ length: 20 }, () => rig.bytes(`${source}/1.m4s`)));
    expect(rig.playbackGate.rechecked.length).toBe(0);
    let release = (): void => {};
    rig.playbackGate.hold = new Promise((resolve) => {
      release = resolve;
    });
    rig.clock.advance(5001);
    // The decision is late, the segments are not.
    for (let i = 0; i < 5; i++) expect(await status(`${source}/1.m4s`)).toBe(200);
    expect(rig.playbackGate.rechecked.length).toBe(1);
    release();
  });

  test("a token is valid only unchanged, for its own playback id and session", async () => {
    await recorded();
    const live = await rig.sourceOf(`${RECORDING}/index.m3u8?jwt=good`);
    expect(await status(`${live}/index.m3u8`)).toBe(200);
    expect(await status(live.replace("recording1", "playstream1").concat("/index.m3u8"))).toBe(401);
    expect(await status(live.replace("recording1", "unknownid1").concat("/index.m3u8"))).toBe(401);
    expect(await status(live.replace("session-1", "session-2").concat("/index.m3u8"))).toBe(404);
    expect(await status(live.replace(/\/s\/.{5}/, "/s/AAAAA").concat("/index.m3u8"))).toBe(401);
  });

  test("a session ends with the token that began it", async () => {
    await broadcast();
    rig.playbackGate.expiresAt = rig.clock.now() + 3000;
    const source = await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
    rig.clock.advance(2999);
    expect(await status(`${source}/1.m4s`)).toBe(200);
    rig.clock.advance(1);
    expect(await status(`${source}/1.m4s`)).toBe(401);
  });

  test("a withdrawn session stays refused, by its token and by its headers", async () => {
    await broadcast();
    const headers = { "service-jwt": "good" };
    const source = await rig.sourceOf(`${LIVE}/index.m3u8`, headers);
    const bare = source.replace(/\/s\/[^/]+/, "/s/-");
    expect(await status(`${bare}/1.m4s`, headers)).toBe(200);
    rig.playbackGate.allowed.clear();
    rig.plane.accessChanged("playstream1");
    expect(await status(`${source}/1.m4s`)).toBe(401);
    expect(await status(`${bare}/1.m4s`, headers)).toBe(401);
    const denied = await rig.fetch(`${source}/index.m3u8`);
    expect([denied.status, await denied.text()]).toEqual([401, `#EXTM3U\n#EXT-X-ERROR: ${DENIED}\n#EXT-X-ENDLIST\n`]);
    rig.playbackGate.allowed.add("good");
    rig.plane.accessChanged("all");
    expect(await status(`${source}/1.m4s`)).toBe(401);
    expect(await status(`${LIVE}/index.m3u8`, headers)).toBe(200);
  });

  test("viewers of content that becomes gated are refused, even without a change notification", async () => {
    await broadcast();
    rig.playbackGate.policy = "public";
    rig.plane.accessChanged("all");
    const source = await rig.sourceOf(`${LIVE}/index.m3u8`);
    expect(await status(`${source}/1.m4s`)).toBe(200);
    rig.playbackGate.policy = "jwt";
    rig.clock.advance(5001);
    expect(await status(`${source}/1.m4s`)).toBe(401);
  });

  test("a deleted key is noticed while watching, even without a notification", async () => {
    await broadcast();
    const source = await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
    rig.playbackGate.allowed.clear();
    rig.clock.advance(5001);
    await until(async () => (await status(`${source}/1.m4s`)) === 401, "a refusal");
    expect(rig.playbackGate.rechecked.length).toBe(1);
  });

  test("an old session waits for the gate's decision", async () => {
    await broadcast();
    const source = await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
    rig.playbackGate.allowed.clear();
    rig.clock.advance(15_001);
    expect(await status(`${source}/1.m4s`)).toBe(401);
  });

  test("a decision requested before a change is not valid", async () => {
    await broadcast();
    const source = await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
    let release = (): void => {};
    rig.playbackGate.hold = new Promise((resolve) => {
      release = resolve;
    });
    rig.clock.advance(5001);
    expect(await status(`${source}/1.m4s`)).toBe(200);
    rig.plane.accessChanged("playstream1");
    release();
    await until(() => rig.playbackGate.rechecked.length === 1, "the question");
    rig.playbackGate.hold = Promise.resolve();
    rig.playbackGate.allowed.clear();
    await until(async () => (await status(`${source}/1.m4s`)) === 401, "a refusal");
  });

  test("a session is restored from its token after a restart", async () => {
    await recorded();
    const source = await rig.sourceOf(`${RECORDING}/index.m3u8?jwt=good`);
    await rig.restart();
    const answers = await Promise.all([1, 2, 3].map(() => status(`${source}/index.m3u8`)));
    expect(answers).toEqual([200, 200, 200]);
    expect(rig.playbackGate.rechecked.length).toBe(1);
    expect(rig.playbackGate.rechecked[0]?.viewer.url).toContain("/recording1/s/-/session-1/source/index.m3u8");
    rig.playbackGate.allowed.clear();
    await rig.restart();
    expect(await status(`${source}/index.m3u8`)).toBe(401);
  });

  test("an unconfirmed session is refused for now, one without a gate waits; both continue later", async () => {
    await recorded();
    rig.playbackGate.policy = "webhook";
    const source = await rig.sourceOf(`${RECORDING}/index.m3u8?accessKey=good`);
    await rig.restart();
    rig.playbackGate.unknown = "unconfirmed";
    expect(await status(`${source}/index.m3u8`)).toBe(401);
    rig.playbackGate.unknown = "away";
    expect(await status(`${source}/index.m3u8`)).toBe(503);
    rig.playbackGate.unknown = null;
    expect(await status(`${source}/index.m3u8`)).toBe(200);
    rig.playbackGate.unknown = "unconfirmed";
    rig.clock.advance(5001);
    // While the decision is stale the gate is asked in the background.
    expect(await status(`${source}/index.m3u8`)).toBe(200);
    rig.clock.advance(10_000);
    expect(await status(`${source}/index.m3u8`)).toBe(401);
    rig.playbackGate.unknown = "away";
    rig.plane.accessChanged("recording1");
    const away = await rig.fetch(`${source}/index.m3u8`);
    expect([away.status, away.headers.get("retry-after")]).toEqual([503, "2"]);
  });

  test("that is offline is reported as such only to viewers with access", async () => {
    expect(await rig.text(`${LIVE}/index.m3u8?jwt=good`)).toContain("#EXT-X-ERROR: Stream is offline");
    expect(await rig.text(`${LIVE}/index.m3u8?jwt=bad`)).toContain(DENIED);
  });

  test("an MP4 is authorized once at its start, and other ranges follow", async () => {
    await recorded();
    const mp4 = `${RECORDING}/staticsource.mp4`;
    expect(await status(mp4)).toBe(401);
    expect(await status(`${mp4}?jwt=bad`)).toBe(401);
    const before = rig.playbackGate.opened.length;
    expect(await status(`${mp4}?jwt=good`, { range: "bytes=0-99" })).toBe(206);
    for (const range of ["bytes=100-199", "bytes=5000-5099", "bytes=-10"])
      expect(await status(`${mp4}?jwt=good`, { range })).toBe(206);
    expect(rig.playbackGate.opened.length - before).toBe(1);
    expect(await status(`${mp4}?jwt=good`)).toBe(200);
    expect(rig.playbackGate.opened.length - before).toBe(2);
  });

  test("an original requires the credential of the media, also for a range, and a stream or recording has none", async () => {
    await recorded();
    const original = `${RECORDING}/original`;
    expect(await status(`${original}?jwt=good`)).toBe(404);
    expect(await status(`${LIVE}/original?jwt=good`)).toBe(404);
    const bytes = Buffer.from("as it came");
    await rig.store.put("v1/source/original", bytes);
    const mediaIndex = rig.catalogue.mediaIndex.bind(rig.catalogue);
    vi.spyOn(rig.catalogue, "mediaIndex").mockImplementation(async (content) => {
      const index = await mediaIndex(content);
      return (
        index && { ...index, original: { key: "v1/source/original", bytes: bytes.length, sha256: "ab", name: "film" } }
      );
    });
    rig.clock.advance(60_000);
    for (const headers of [{}, { range: "bytes=3-4" }]) {
      expect(await status(original, headers)).toBe(401);
      expect(await status(`${original}?jwt=bad`, headers)).toBe(401);
    }
    expect((await rig.bytes(`${original}?jwt=good`)).equals(bytes)).toBe(true);
    const part = await rig.bytes(`${original}?jwt=good`, { headers: { range: "bytes=3-4" } });
    expect(part.toString()).toBe("it");
    for (const odd of [`${original}/`, `${original}.html`, `${RECORDING}/%6friginal`])
      expect(await status(`${odd}?jwt=good`)).toBe(404);
  });

  test.each(["jwt", "public"] as const)(
    "73: an MP4 of %s content that runs is cut when it may not be watched any longer",
    async (policy) => {
      await recorded();
      rig.playbackGate.policy = policy;
      // The store never finishes, so the response cannot end by itself.
      neverReadSpans();
      const answer = await rig.fetch(`${RECORDING}/staticsource.mp4?jwt=good`);
      expect(answer.status).toBe(200);
      let isOver = false;
      const body = answer.arrayBuffer().finally(() => {
        isOver = true;
      });
      const cut = expect(body).rejects.toThrow();
      rig.clock.advance(8000);
      await rig.text(`${LIVE}/index.m3u8`);
      expect(isOver).toBe(false);
      rig.playbackGate.policy = "webhook";
      rig.plane.accessChanged("all");
      rig.clock.advance(4000);
      await cut;
    },
  );

  test.each(["away", "unconfirmed"] as const)(
    "73: a running MP4 response is cut when the gate is %s",
    async (unknown) => {
      await recorded();
      rig.playbackGate.policy = "webhook";
      neverReadSpans();
      const answer = await rig.fetch(`${RECORDING}/staticsource.mp4?accessKey=good`);
      const cut = expect(answer.arrayBuffer()).rejects.toThrow();
      rig.playbackGate.unknown = unknown;
      rig.plane.accessChanged("all");
      rig.clock.advance(4000);
      await cut;
    },
  );

  test("a running MP4 response is also cut for a rate-limited client", async () => {
    await recorded();
    rig.playbackGate.policy = "public";
    neverReadSpans();
    const answer = await rig.fetch(`${RECORDING}/staticsource.mp4`);
    const cut = expect(answer.arrayBuffer()).rejects.toThrow();
    rig.playbackGate.policy = "jwt";
    rig.plane.accessChanged("all");
    const guesses = () => Promise.all(Array.from({ length: 100 }, () => status(`${LIVE}/index.m3u8?jwt=bad`)));
    for (let round = 0; !(await guesses()).includes(429); round++) expect(round).toBeLessThan(20);
    rig.clock.advance(4000);
    await cut;
  });

  test("unknown ids, ids of others and wrong credentials get the same response", async () => {
    const answers = [];
    for (const path of ["playstream1/index.m3u8?jwt=bad", "unknownid1/index.m3u8?jwt=bad", "playstream1/index.m3u8"]) {
      const answer = await rig.fetch(`/hls/${path}`);
      const headers = [...answer.headers].filter(([name]) => name !== "date" && name !== "x-request-id");
      answers.push({ status: answer.status, headers, body: await answer.text() });
    }
    expect(answers[0]?.status).toBe(401);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  test.each(["index.m3u8", "staticsource.mp4", "s/-/session-1/source/1.m4s"])(
    "71: an access key with control characters is a bad request at %s",
    async (path) => {
      rig.playbackGate.policy = "webhook";
      const answer = await rig.fetch(`${LIVE}/${path}?accessKey=a%00b`);
      expect(answer.status).toBe(400);
      expect(await answer.text()).not.toContain("a\u0000b");
      expect(rig.playbackGate.opened.length).toBe(0);
    },
  );

  test("the gate gets different values of a credential", async () => {
    await broadcast(1);
    expect(await status(`${LIVE}/index.m3u8?jwt=good`, { "service-jwt": "other" })).toBe(401);
    expect(rig.playbackGate.opened[0]?.tokens).toEqual(["good", "other"]);
  });

  test("viewer details have no credentials, and responses forbid referrers", async () => {
    await broadcast();
    const headers = { origin: "https://site.test", referer: "https://site.test/page", "user-agent": "player" };
    const answer = await rig.fetch(`${LIVE}/index.m3u8?jwt=good`, {
      headers: { ...headers, "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" },
    });
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    const host = new URL(rig.url("/")).host;
    expect(rig.playbackGate.opened[0]?.viewer).toEqual({
      protocol: "hls",
      address: "203.0.113.7",
      url: `https://${host}/hls/playstream1/index.m3u8`,
      host,
      userAgent: "player",
      referer: "https://site.test/page",
      origin: "https://site.test",
    });
  });

  test("responses never allow credentials, whatever the origin", async () => {
    await broadcast();
    for (const origin of ["null", "https://evil-example.com", "https://site.test"]) {
      for (const method of ["GET", "OPTIONS"]) {
        const answer = await rig.fetch(`${LIVE}/index.m3u8?jwt=good`, { method, headers: { origin } });
        expect(answer.headers.get("access-control-allow-origin")).toBe("*");
        expect(answer.headers.get("access-control-allow-credentials")).toBe(null);
      }
    }
    const allowed = (await rig.fetch(`${LIVE}/index.m3u8`, { method: "OPTIONS" })).headers.get(
      "access-control-allow-headers",
    );
    for (const name of ["Range", "Service-Jwt", "Livepeer-Jwt", "Service-Access-Key", "Livepeer-Access-Key"])
      expect(allowed).toContain(name);
  });

  test("a decision for one origin does not apply to another, even for public content", async () => {
    await broadcast();
    rig.playbackGate.policy = "public";
    rig.playbackGate.origins = ["https://example.com"];
    const from = async (origin: string) => status(`${LIVE}/index.m3u8`, { origin });
    expect(await from("https://example.com")).toBe(200);
    for (const origin of [
      "https://evil-example.com",
      "https://example.com.evil.test",
      "null",
      "https://example.com:81",
    ])
      expect(await from(origin)).toBe(401);
    expect(await status(`${LIVE}/s/-/session-1/source/1.m4s`)).toBe(401);
    const own = await rig.fetch(`${LIVE}/s/-/session-1/source/1.m4s`, { headers: { origin: "https://example.com" } });
    expect([own.status, own.headers.get("cache-control")]).toEqual([200, expect.stringMatching(/^private/)]);
  });

  test("caches may store responses admitted by the URL alone, not those admitted by headers", async () => {
    await broadcast();
    const cacheOf = async (path: string, headers: Record<string, string> = {}) =>
      (await rig.fetch(path, { headers })).headers.get("cache-control");
    const headers = { "service-jwt": "good" };
    const source = await rig.sourceOf(`${LIVE}/index.m3u8`, headers);
    const bare = source.replace(/\/s\/[^/]+/, "/s/-");
    expect(await cacheOf(`${LIVE}/index.m3u8?jwt=good`)).toBe("private, no-store");
    expect(await cacheOf(`${LIVE}/index.m3u8?jwt=bad`)).toBe("private, no-store");
    expect(await cacheOf(`${source}/1.m4s`)).toMatch(/^public, .*immutable/);
    for (const file of ["1.m4s", "1.0.m4s", "index.m3u8", "index.m3u8?_HLS_msn=1", "9.m4s"])
      expect(await cacheOf(`${bare}/${file}`, headers)).toMatch(/^private/);
  });
});

describe("an edge's question", () => {
  const ask = async (uri: string, headers: Record<string, string> = {}) => {
    const answer = await rig.fetch("/hls/authorize", { headers: { "x-original-uri": uri, ...headers } });
    return { status: answer.status, cache: answer.headers.get("cache-control"), body: await answer.text() };
  };

  test("is answered with a short-lived 204 if the URL is allowed, else with 401", async () => {
    await broadcast();
    const source = await rig.sourceOf(`${LIVE}/index.m3u8?jwt=good`);
    const bare = source.replace(/\/s\/[^/]+/, "/s/-");
    expect(await ask(`${source}/1.m4s`)).toEqual({ status: 204, cache: "private, max-age=3", body: "" });
    expect((await ask(`${bare}/1.m4s`)).status).toBe(401);
    expect((await ask(`${bare}/1.m4s`, { "service-jwt": "good" })).status).toBe(204);
    rig.playbackGate.allowed.clear();
    rig.plane.accessChanged("all");
    expect((await ask(`${source}/1.m4s`)).status).toBe(401);
  });

  test.each(["", "/", "/api/stream", "/hls/authorize", "/hls/playstream1/../../x"])(
    "%j is about nothing",
    async (uri) => {
      expect((await ask(uri)).status).toBe(404);
    },
  );

  const OTHER = "hls/playstream1/s/-/session-1/source/1.m4s";
  test.each([
    ["an escaped way to another id", `/hls/recording1/s/-/a/b/${"%2e%2e%2f".repeat(6)}${OTHER.replaceAll("/", "%2f")}`],
    ["half escaped", `/hls/recording1/s/-/a/b/${"..%2f".repeat(6)}${OTHER}`],
    ["upper case", `/hls/recording1/s/-/a/b/${"%2E%2E%2F".repeat(6)}${OTHER.replaceAll("/", "%2F")}`],
    ["escaped twice", `/hls/recording1/s/-/a/b/${"%252e%252e%252f".repeat(6)}${OTHER}`],
    ["dots alone", `/hls/recording1/s/-/a/b/${"../".repeat(6)}${OTHER}`],
    ["backslashes", `/hls/recording1/s/-/a/b/${"..\\".repeat(6)}${OTHER}`],
    ["an escaped slash", "/hls/playstream1/s/-/session-1%2fsource/1.m4s"],
    ["an escaped letter", "/hls/playstream1/s/-/session-1/sourc%65/1.m4s"],
    ["an escaped id", "/hls/%70laystream1/s/-/session-1/source/1.m4s"],
    ["an escaped prefix", "/%68ls/playstream1/s/-/session-1/source/1.m4s"],
    ["an empty word", "/hls/playstream1/s/-/session-1//source/1.m4s"],
    ["an empty word before it", `//${OTHER}`],
    ["a dot", "/hls/playstream1/s/-/session-1/./source/1.m4s"],
    ["an escaped zero", "/hls/playstream1/s/-/session-1/source/1.m4s%00"],
    ["parameters of a word", "/hls/playstream1/s/-/session-1/source/1.m4s;a=b"],
    ["parameters inside", "/hls/playstream1/s/-;x/session-1/source/1.m4s"],
    ["an overlong slash", "/hls/playstream1/s/-/session-1/source%c0%af1.m4s"],
    ["a fragment", `/${OTHER}#x`],
    ["a fragment in the query", `/${OTHER}?jwt=a#b`],
    ["a space", `/${OTHER} /x`],
    ["a whole address", `http://weir.test/${OTHER}`],
    ["a slash at the end", `/${OTHER}/`],
    ["another file's ending", "/hls/playstream1/s/-/session-1/source/1.m4s.mp4"],
    ["no number", "/hls/playstream1/s/-/session-1/source/one.m4s"],
    ["another rendition", "/hls/playstream1/s/-/session-1/other/1.m4s"],
    ["another session", "/hls/playstream1/s/-/session-2/source/1.m4s"],
    ["another id's session", "/hls/recording1/s/-/session-9/source/1.m4s"],
    ["a recording's missing file", "/hls/recording1/s/-/session-1/source/9-0000000009.m4s"],
    ["a recording's missing rendition", "/hls/recording1/s/-/session-1/other/index.m3u8"],
  ])(
    "about an address with %s is answered with 404, as a viewer's own request is, also where all is public",
    async (_what, uri) => {
      await recorded();
      rig.playbackGate.policy = "public";
      expect((await ask(`/${OTHER}`)).status).toBe(204);
      expect((await ask(uri)).status).toBe(404);
      if (/^\/\S*$/.test(uri)) expect(await rawStatus(uri)).toBe(404);
    },
  );

  test("with two URLs is answered with 404, because one was set by the viewer", async () => {
    await broadcast();
    rig.playbackGate.policy = "public";
    const about = (...uris: string[]) =>
      rawStatus(
        "/hls/authorize",
        uris.flatMap((uri) => ["x-original-uri", uri]),
      );
    expect(await about(`/${OTHER}`)).toBe(204);
    expect(await about(`/${OTHER}`, `/${OTHER}`)).toBe(404);
    expect(await about(`/${OTHER}?`, "/hls/unknownid1/index.m3u8")).toBe(404);
    expect(await about()).toBe(404);
  });

  test("about a recording's files is answered like the viewer's own request", async () => {
    await recorded();
    const source = await rig.sourceOf(`${RECORDING}/index.m3u8?jwt=good`);
    const [span] = /\d+-\d+\.m4s/.exec(await rig.text(`${source}/index.m3u8`)) ?? [];
    for (const file of ["index.m3u8", span]) expect((await ask(`${source}/${file}`)).status).toBe(204);
    expect((await ask(`${source}/1-0000000099.m4s`)).status).toBe(404);
    expect((await ask(source.replace(/\/s\/[^/]+/, "/s/-").concat(`/${span}`))).status).toBe(401);
  });

  test("about an offline stream is not answered with a playlist", async () => {
    expect(await ask(`${LIVE}/index.m3u8`, { "service-jwt": "good" })).toMatchObject({ status: 204, body: "" });
  });
});
