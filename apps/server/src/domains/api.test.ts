import { routes, type Stream } from "@weir/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addProject, startTestDomains, type TestDomains } from "./domain-test-kit.ts";

let kit: TestDomains;
beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());

const create = async (body: object = {}): Promise<Stream> => {
  const answer = await kit.call("POST", "/api/stream", { name: "stage", ...body });
  expect(answer.statusCode).toBe(201);
  return answer.json();
};
const keywordOf = (body: { errors: string[] }) => JSON.parse(body.errors[0] ?? "{}").keyword;

const rung = { name: "a", width: 128, height: 128, bitrate: 400, fps: 0 };

describe("streams", () => {
  it("a created stream has its key, its playback id and the default profiles, and is idle", async () => {
    const stream = await create();
    expect(stream).toMatchObject({
      kind: "stream",
      name: "stage",
      isActive: false,
      record: false,
      multistream: { targets: [] },
    });
    expect(stream.streamKey).toMatch(new RegExp(`^${stream.id.slice(0, 4)}(-[0-9a-z]{4}){3}$`));
    expect(stream.playbackId).toMatch(new RegExp(`^${stream.id.slice(0, 4)}[0-9a-z]{12}$`));
    expect(stream.profiles.map((profile) => profile.name)).toEqual(["240p0", "360p0", "480p0", "720p0"]);
    expect(stream.status).toEqual({ state: "idle", since: stream.createdAt });
    expect((await kit.call("GET", `/api/stream/${stream.id}`)).json()).toEqual(stream);
  });

  it("fields of later features are kept", async () => {
    const given = {
      creatorId: "me",
      userTags: { room: "a", floors: [1, "two"] },
      playbackPolicy: { type: "jwt", webhookId: "w", webhookContext: { a: { b: 1 } }, refreshInterval: 60 },
      profiles: [],
      record: true,
      recordingSpec: { profiles: null },
      multistream: { targets: [{ profile: "source", spec: { url: "rtmp://user:pass@example.com/live/secret" } }] },
    };
    const stream = await create(given);
    expect(stream).toMatchObject({
      creatorId: { type: "unverified", value: "me" },
      userTags: given.userTags,
      playbackPolicy: given.playbackPolicy,
      profiles: [],
      recordingSpec: {},
    });
    expect(stream.multistream.targets).toEqual([
      { profile: "source", id: expect.stringMatching(/^[0-9a-f-]{36}$/), status: { state: "Idle" } },
    ]);
    expect(JSON.stringify(stream)).not.toContain("secret");
  });

  it.each([
    [{}, "required"],
    [{ name: 1 }, "type"],
    [{ name: "a", record: "true" }, "type"],
    [{ name: "a", color: "red" }, "additionalProperties"],
    [{ name: "a", profiles: [{ name: "x", width: 1, height: 200, bitrate: 500, fps: 0 }] }, "minimum"],
    [{ name: "a", playbackPolicy: { type: "secret" } }, "enum"],
    [[], "type"],
  ])("a body that does not fit is 422 with the validator's error: %j", async (body, keyword) => {
    const answer = await kit.call("POST", "/api/stream", body);
    expect(answer.statusCode).toBe(422);
    expect(keywordOf(answer.json())).toBe(keyword);
  });

  it.each([{ width: 100_000 }, { height: 8_193 }, { bitrate: 200_000_001 }, { fps: 240_001 }, { fpsDen: 1_002 }])(
    "a profile that no machine can make is 422 with its limit: %j",
    async (size) => {
      const body = { name: "a", profiles: [{ ...rung, ...size }] };
      const answer = await kit.call("POST", "/api/stream", body);
      expect([answer.statusCode, keywordOf(answer.json())]).toEqual([422, "maximum"]);
      const largest = { width: 8_192, height: 8_192, bitrate: 200_000_000, fps: 240_000, fpsDen: 1_001 };
      const taken = await kit.call("POST", "/api/stream", { name: "a", profiles: [{ ...rung, ...largest }] });
      expect(taken.statusCode).toBe(201);
    },
  );

  it.each([
    [{ profiles: [{ ...rung, name: "source" }] }, 'profile cannot be named "source"'],
    [{ profiles: [rung, rung] }, 'duplicate profile name "a"'],
    [
      { profiles: [{ ...rung, gop: "soon" }] },
      'profile "a" has the gop "soon": give seconds as text, such as "2.0", or "intra"',
    ],
    [{ profiles: [{ ...rung, fps: 241 }] }, 'profile "a" has more than 240 frames per second: lower its fps'],
    [{ recordingSpec: { profiles: [] } }, "recordingSpec is only supported with record=true"],
    [{ multistream: { targets: [{ profile: "source" }] } }, 'multistream target must have either an "id" or a "spec"'],
    [{ multistream: { targets: [{ profile: "source", id: "nope" }] } }, 'multistream target not found: "nope"'],
    [
      { profiles: [rung], multistream: { targets: [{ profile: "b", id: "x" }] } },
      'multistream target profile not found: "b". available: ["source","a"]',
    ],
  ])("what makes no sense is 400 with the public text: %j", async (body, text) => {
    const answer = await kit.call("POST", "/api/stream", { name: "stage", ...body });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ errors: [text] });
  });

  it("texts that cannot be stored are 400, and a prototype is not changed by a body", async () => {
    expect((await kit.call("POST", "/api/stream", { name: "a\0b" })).statusCode).toBe(400);
    expect((await kit.call("POST", "/api/stream", '{"name":"\\ud800"}', json())).statusCode).toBe(400);
    const poisoned = await kit.call("POST", "/api/stream", '{"name":"a","__proto__":{"polluted":1}}', json());
    expect(poisoned.statusCode).toBe(400);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("a patch changes what it names, answers 204, and refuses unknown fields", async () => {
    const { id } = await create();
    expect((await kit.call("PATCH", `/api/stream/${id}`, { record: true, name: "new" })).statusCode).toBe(204);
    expect((await kit.call("PATCH", `/api/stream/${id}`, {})).statusCode).toBe(204);
    expect((await kit.call("GET", `/api/stream/${id}`)).json()).toMatchObject({ record: true, name: "new" });
    expect((await kit.call("PATCH", `/api/stream/${id}`, { streamKey: "x" })).statusCode).toBe(422);
  });

  it("a deleted stream is 404 everywhere, and the media floor is told", async () => {
    const { id } = await create();
    expect((await kit.call("DELETE", `/api/stream/${id}`)).statusCode).toBe(204);
    expect((await kit.call("GET", `/api/stream/${id}`)).statusCode).toBe(404);
    expect((await kit.call("DELETE", `/api/stream/${id}`)).statusCode).toBe(404);
    expect((await kit.call("GET", `/api/stream/${id}/sessions`)).statusCode).toBe(404);
    expect(kit.asked.stops).toContainEqual({ streamId: id, why: "deleted" });
  });

  it("several are deleted together or not at all", async () => {
    const [a, b] = [await create(), await create()];
    const wrong = await kit.call("DELETE", "/api/stream", { ids: [a.id, "00000000-0000-4000-8000-000000000000"] });
    expect(wrong.statusCode).toBe(404);
    expect((await kit.call("GET", `/api/stream/${a.id}`)).statusCode).toBe(200);
    expect((await kit.call("DELETE", "/api/stream", {})).json()).toMatchObject({ errors: ["missing ids"] });
    expect((await kit.call("DELETE", "/api/stream", { ids: [a.id, b.id] })).statusCode).toBe(204);
  });

  it("a second terminate within 5 s is 429", async () => {
    const { id } = await create();
    expect((await kit.call("DELETE", `/api/stream/${id}/terminate`)).statusCode).toBe(204);
    const again = await kit.call("DELETE", `/api/stream/${id}/terminate`);
    expect([again.statusCode, again.json()]).toMatchObject([429, { errors: ["too many terminate requests"] }]);
    kit.clock.advance(5_000);
    expect((await kit.call("DELETE", `/api/stream/${id}/terminate`)).statusCode).toBe(204);
  });

  it("a test broadcast is asked of the media floor with the stream's key", async () => {
    const { id, streamKey } = await create();
    expect((await kit.call("POST", `/api/stream/${id}/test-broadcast`)).statusCode).toBe(204);
    expect((await kit.call("POST", `/api/stream/${id}/test-broadcast`, { seconds: 5 })).statusCode).toBe(204);
    expect(kit.asked.broadcasts).toEqual([
      { streamKey, seconds: 60 },
      { streamKey, seconds: 5 },
    ]);
    expect((await kit.call("POST", `/api/stream/${id}/test-broadcast`, { seconds: 0 })).statusCode).toBe(422);
    kit.clock.advance(60_000);
  });

  it("a project runs two test broadcasts at a time, and another project has its own", async () => {
    const start = async ({ id }: { id: string }, headers?: Record<string, string>) =>
      (await kit.call("POST", `/api/stream/${id}/test-broadcast`, { seconds: 30 }, headers)).statusCode;
    const mine = await create();
    expect([await start(mine), await start(mine), await start(mine)]).toEqual([204, 204, 429]);
    const { apiKey } = await addProject(kit.db, "broadcasting");
    const headers = { authorization: `Bearer ${apiKey}` };
    const made = await kit.call("POST", "/api/stream", { name: "theirs" }, headers);
    expect(await start(made.json<{ id: string }>(), headers)).toBe(204);
    kit.clock.advance(30_000);
    expect(await start(mine)).toBe(204);
  });

  it("a project has as many streams as the operator allows, those that are deleted not counted", async () => {
    await using limited = await startTestDomains({ streamsPerProject: 2 });
    const make = () => limited.call("POST", "/api/stream", { name: "a" });
    const { id } = (await make()).json<{ id: string }>();
    expect((await make()).statusCode).toBe(201);
    const refused = await make();
    expect([refused.statusCode, refused.json()]).toMatchObject([
      400,
      { code: "too-many-streams", errors: [expect.stringContaining("a project may have 2 streams")] },
    ]);
    await limited.call("DELETE", `/api/stream/${id}`);
    expect((await make()).statusCode).toBe(201);
  });
});

describe("lists", () => {
  it("pages follow the Link header to the end, and filters and counts work", async () => {
    const names = ["alpha", "Alphabet", "beta"];
    for (const name of names) await create({ name, creatorId: "lists" });
    const filter = (filters: object[]) => `filters=${encodeURIComponent(JSON.stringify(filters))}`;
    const mine = filter([{ id: "creatorId", value: "lists" }]);
    const first = await kit.call("GET", `/api/stream?limit=2&count=true&order=name-false&${mine}`);
    expect(
      first
        .json()
        .map((stream: Stream) => stream.name)
        .sort(),
    ).toEqual(["Alphabet", "alpha"]);
    expect(first.headers["x-total-count"]).toBe("3");
    const next = /^<(.*)>; rel="next"$/.exec(String(first.headers.link))?.[1] ?? "";
    const second = await kit.call("GET", next.replace("http://weir.test", ""));
    expect(second.json().map((stream: Stream) => stream.name)).toEqual(["beta"]);
    expect(second.headers.link).toBeUndefined();
    const named = await kit.call(
      "GET",
      `/api/stream?${filter([
        { id: "name", value: "ALPHA" },
        { id: "isActive", value: false },
      ])}`,
    );
    expect(named.json()).toHaveLength(2);
    const counted = await kit.call("GET", `/api/stream?${filter([{ id: "sourceSegments", value: { gte: 1 } }])}`);
    expect(counted.json()).toEqual([]);
  });

  it.each([
    "limit=0",
    "limit=abc",
    "limit=1e9",
    "limit=1&limit=2",
    "order=nope-true,name;drop-true",
    "zzz=1",
    "active=%00",
  ])("an odd query is no error: %s", async (query) =>
    expect((await kit.call("GET", `/api/stream?${query}`)).statusCode).toBe(200),
  );

  it.each([
    "cursor=forged",
    "cursor=skip-1",
    "cursor=skip99999999999",
    "filters=nope",
    "filters={}",
    'filters=[{"id":"name"}]',
    'filters=[{"id":"constructor","value":1}]',
    `filters=${encodeURIComponent('[{"id":"name","value":"\\u0000"}]')}`,
    'filters=[{"id":"isActive","value":"true"}]',
    'filters=[{"id":"lastSeen","value":{"like":1}}]',
    "filters=[null]",
  ])("a bad cursor or filter is 400: %s", async (query) => {
    const answer = await kit.call("GET", `/api/stream?${query}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors[0]).toMatch(/^error parsing (cursor|filters): /);
  });

  it("a filter's value is data, whatever it looks like", async () => {
    const value = "' or '1'='1";
    const filters = encodeURIComponent(JSON.stringify([{ id: "creatorId", value }]));
    expect((await kit.call("GET", `/api/stream?filters=${filters}`)).json()).toEqual([]);
  });
});

describe("authentication", () => {
  const get = (headers: Record<string, string>) => kit.call("GET", "/api/stream?limit=1", undefined, headers);

  it("takes Bearer, the bare key and Basic", async () => {
    const basic = Buffer.from(`me:${kit.apiKey}`).toString("base64");
    for (const authorization of [`Bearer ${kit.apiKey}`, `bearer  ${kit.apiKey}`, kit.apiKey, `Basic ${basic}`]) {
      expect((await get({ authorization })).statusCode).toBe(200);
    }
  });

  it.each([
    [{}, "request is not authenticated: send the header Authorization: Bearer and an API key"],
    [{ authorization: "Bearer wrong" }, "Unknown API key. Check it, or create one in the dashboard under Keys."],
    [
      { authorization: "Digest abc" },
      "unsupported authorization header scheme: send Authorization: Bearer and an API key",
    ],
  ])("refuses %j with 401", async (headers, text) => {
    const answer = await get(headers as Record<string, string>);
    expect([answer.statusCode, answer.json()]).toMatchObject([401, { errors: [text] }]);
  });

  it("a suspended account is 403", async () => {
    const other = await addProject(kit.db, "suspended");
    await kit.db.updateTable("account").set({ suspended: true }).where("id", "=", other.userId).execute();
    expect((await get({ authorization: other.apiKey })).statusCode).toBe(403);
  });

  it("a preset key is added to the first account, is not given out, and works", async () => {
    expect(await kit.domains.ensureFirstAccount("preset-key")).toBeNull();
    expect(await kit.domains.ensureFirstAccount("preset-key")).toBeNull();
    expect(await kit.domains.ensureFirstAccount()).toBeNull();
    expect((await get({ authorization: "preset-key" })).statusCode).toBe(200);
  });

  it("the dashboard trades a key for a cookie, and changes things only with its header", async () => {
    const signIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
    expect(signIn.statusCode).toBe(204);
    const setCookie = String(signIn.headers["set-cookie"]);
    expect(setCookie).toMatch(/HttpOnly; SameSite=Strict/);
    const cookie = setCookie.split(";")[0] ?? "";
    expect((await kit.call("GET", "/api/dashboard/session", undefined, { cookie })).json()).toMatchObject({
      keyName: "first key",
    });
    expect((await kit.call("POST", "/api/stream", { name: "a" }, { cookie })).statusCode).toBe(403);
    const dashboard = { cookie, "x-weir-request": "1" };
    expect((await kit.call("POST", "/api/stream", { name: "a" }, dashboard)).statusCode).toBe(201);
    expect((await kit.call("DELETE", "/api/dashboard/sign-in", undefined, dashboard)).statusCode).toBe(204);
    expect((await kit.call("GET", "/api/dashboard/session", undefined, { cookie })).statusCode).toBe(401);
    expect((await kit.call("POST", "/api/dashboard/sign-in", { apiKey: "wrong" }, {})).statusCode).toBe(401);
  });

  it("no key, cookie or stream key stands in the database's accounts", async () => {
    const keys = await kit.db.selectFrom("api_key").selectAll().execute();
    expect(JSON.stringify(keys)).not.toContain(kit.apiKey);
  });
});

describe("another project's things", () => {
  const bodies: Record<string, object> = {
    record: { record: false },
    export: { custom: { url: "https://example.com/" } },
    suspended: { suspended: true },
    "slate-image": { image: null },
    replay: { from: 0, to: 1 },
    "create-multistream-target": { profile: "source", spec: { url: "rtmp://example.com/live/key" } },
  };
  const byMethod: Record<string, object> = {
    PATCH: { name: "stolen" },
    PUT: { name: "stolen", url: "https://example.com/", events: [] },
  };
  const withId = Object.entries(routes).filter(([, route]) => route.path.includes(":id") && route.auth === "key");

  it.each(withId)("%s of a foreign, unknown or malformed id is 404 and changes nothing", async (_name, route) => {
    const stream = await create({ record: true });
    const other = await addProject(kit.db, `${route.method}${route.path}`);
    const session = await liveSession(stream);
    const id = route.path.startsWith("/api/session") ? session : stream.id;
    const body = bodies[route.path.split("/").at(-1) ?? ""] ?? byMethod[route.method];
    for (const target of [id, "00000000-0000-4000-8000-000000000000", "nope", "%00", `${id}x`]) {
      const answer = await kit.call(route.method, route.path.replace(":id", target), body, {
        authorization: other.apiKey,
      });
      expect([target, answer.statusCode]).toEqual([target, 404]);
    }
    expect((await kit.call("GET", `/api/stream/${stream.id}`)).json()).toMatchObject({ name: "stage", isActive: true });
  });

  it("lists show nothing of it", async () => {
    await create();
    const other = await addProject(kit.db, "lister");
    for (const path of ["/api/stream", "/api/session"]) {
      expect((await kit.call("GET", path, undefined, { authorization: other.apiKey })).json()).toEqual([]);
    }
    const { id } = await create();
    const headers = { authorization: other.apiKey };
    expect((await kit.call("DELETE", "/api/stream", { ids: [id] }, headers)).statusCode).toBe(404);
  });
});

describe("an address that a stream goes to or comes from", () => {
  const refused = [
    "://127.1/app",
    "://example.com:6379/app",
    "://weir.test:1935/live/key",
    "://nobody:secret@2130706433/app",
  ];

  it.each(refused)("of rtmp%s is 400 with a sentence that does not repeat it", async (rest) => {
    const url = `rtmp${rest}`;
    const spec = { multistream: { targets: [{ profile: "source", spec: { url } }] } };
    for (const [path, body] of [
      ["/api/multistream/target", { url }],
      ["/api/stream", { name: "s", ...spec }],
    ] as const) {
      const answer = await kit.call("POST", path, body);
      expect(answer.statusCode).toBe(400);
      expect(answer.json().errors[0]).toMatch(/^streams cannot be forwarded to this url: /);
      expect(answer.body).not.toContain("secret");
    }
    const target = await kit.call("POST", "/api/multistream/target", { url: "rtmp://live.example.com/app/key" });
    const patched = await kit.call("PATCH", `/api/multistream/target/${target.json().id}`, { url });
    expect(patched.statusCode).toBe(400);
  });

  it("may have a user name and a password", async () => {
    const url = "rtmp://user:pass@live.example.com/app";
    expect((await kit.call("POST", "/api/multistream/target", { url })).statusCode).toBe(201);
  });
});

describe("playback and ingest", () => {
  it("a live stream plays by its playback id alone, without a key", async () => {
    const stream = await create({ playbackPolicy: { type: "jwt" } });
    const answer = await kit.call("GET", `/api/playback/${stream.playbackId}`, undefined, {});
    expect(answer.json()).toEqual({
      type: "live",
      meta: {
        live: 0,
        playbackPolicy: { type: "jwt" },
        source: [
          {
            hrn: "HLS (TS)",
            type: "html5/application/vnd.apple.mpegurl",
            url: `http://weir.test/hls/${stream.playbackId}/index.m3u8`,
          },
        ],
        // Whether there is a recording, only those learn who may watch.
        poster: `http://weir.test/hls/${stream.playbackId}/thumbnail.jpg`,
      },
    });
    const unknown = await kit.call("GET", `/api/playback/${stream.id}`, undefined, {});
    expect([unknown.statusCode, unknown.json()]).toMatchObject([
      404,
      { errors: [`No playback URL found for ${stream.id}`] },
    ]);
  });

  it("what is for the owner needs the owner's key", async () => {
    const { playbackId } = await create();
    const other = await addProject(kit.db, "viewer");
    const ask = (headers: Record<string, string>) =>
      kit.call("GET", `/api/playback/${playbackId}?recordings=true`, undefined, headers);
    expect((await ask({})).statusCode).toBe(401);
    expect((await ask({ authorization: other.apiKey })).statusCode).toBe(404);
    const mine = (await ask({ authorization: kit.apiKey })).json();
    expect(mine.meta.dvrPlayback).toEqual([{ error: "no running recordings available for this stream" }]);
  });

  it("the base of the API names the server and leads to its description, without a key", async () => {
    const answer = await kit.call("GET", "/api", undefined, {});
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      {
        name: "Weir",
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        openapi: "http://weir.test/api/openapi.json",
        docs: "http://weir.test/docs",
        dashboard: "http://weir.test/",
      },
    ]);
  });

  it("ingest tells where to publish", async () => {
    const [ingest] = (await kit.call("GET", "/api/ingest", undefined, {})).json();
    expect(ingest).toMatchObject({ ingests: { rtmp: "rtmp://weir.test:1935/live" }, playback: "http://weir.test/hls" });
  });
});

const json = () => ({ authorization: kit.apiKey, "content-type": "application/json" });

async function liveSession(stream: Stream): Promise<string> {
  const request = { protocol: "rtmp", streamKey: stream.streamKey ?? "", remoteAddress: "127.0.0.1" } as const;
  const decision = await kit.domains.publishGate.authorize(request);
  const start = decision.ok ? await kit.domains.publishGate.begin(decision.grant, kit.clock.now()) : null;
  return start?.sessionId ?? "";
}
