import { afterAll, describe, expect, it } from "vitest";
import { startTestDomains } from "./domain-test-kit.ts";

/** What a newcomer gets wrong, and what the API says to it. Read it as a table: the call, then status, code and sentence. */

const kit = await startTestDomains({}, { allowPrivateUrls: false });
afterAll(() => kit[Symbol.asyncDispose]());

const NOBODY = "00000000-0000-4000-8000-000000000000";
const { id } = (await kit.call("POST", "/api/stream", { name: "stage" })).json();
const hook = (url: string) => ({ name: "hook", url, events: ["stream.started"] });
const named = (fields: object) => ({ name: "stage", ...fields });
const profile = { name: "a", width: 640, height: 360, bitrate: 800_000, fps: 30 };

interface Wrong {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}
type Row = readonly [what: string, call: string, wrong: Wrong, status: number, code: string, says: string];

const rows: readonly Row[] = [
  ["no key", "GET /api/stream", { headers: {} }, 401, "unauthenticated", "send the header Authorization: Bearer"],
  [
    "a wrong key",
    "GET /api/stream",
    { headers: { authorization: "Bearer nope" } },
    401,
    "unknown-key",
    "Unknown API key.",
  ],
  [
    "a scheme of its own",
    "GET /api/stream",
    { headers: { authorization: "Token nope" } },
    401,
    "unauthenticated",
    "Bearer",
  ],
  ["a wrong method", "PUT /api/stream", { body: {} }, 405, "method-not-allowed", "It takes GET, HEAD, POST, DELETE"],
  [
    "a wrong method below an id",
    `POST /api/stream/${id}`,
    { body: {} },
    405,
    "method-not-allowed",
    "It takes GET, HEAD, PATCH, DELETE",
  ],
  ["an unknown path", "GET /api/strems", {}, 404, "unknown-path", "/api links to a description of every operation"],
  ["an unknown id", `GET /api/stream/${NOBODY}`, {}, 404, "not-found", "not found"],
  ["an id that is none", "GET /api/stream/mine", {}, 404, "not-found", "not found"],
  ["bad JSON", "POST /api/stream", { body: '{"name":', headers: json() }, 400, "bad-json", "the body is not JSON"],
  [
    "no content type",
    "POST /api/stream",
    { body: "name=a", headers: json("application/x-www-form-urlencoded") },
    415,
    "unsupported-media-type",
    "with the header Content-Type: application/json",
  ],
  [
    "a compressed body",
    "POST /api/stream",
    { body: "{}", headers: { ...json(), "content-encoding": "gzip" } },
    415,
    "unsupported-encoding",
    "without Content-Encoding",
  ],
  [
    "a missing field",
    "POST /api/stream",
    { body: {} },
    422,
    "invalid-body",
    "the body must have required property 'name'",
  ],
  [
    "an unknown field",
    "POST /api/stream",
    { body: named({ nmae: 1 }) },
    422,
    "invalid-body",
    'the body has the unknown field "nmae"',
  ],
  ["a field of another type", "POST /api/stream", { body: { name: 7 } }, 422, "invalid-body", "name must be string"],
  [
    "a small profile",
    "POST /api/stream",
    { body: named({ profiles: [{ ...profile, width: 1 }] }) },
    422,
    "invalid-body",
    "profiles.0.width must be >= 128",
  ],
  [
    "two profiles of one name",
    "POST /api/stream",
    { body: named({ profiles: [profile, profile] }) },
    400,
    "bad-request",
    'duplicate profile name "a"',
  ],
  [
    "a policy of another kind",
    "POST /api/stream",
    { body: named({ playbackPolicy: { type: "secret" } }) },
    422,
    "invalid-body",
    "public, jwt",
  ],
  [
    "a webhook policy without its webhook",
    "POST /api/stream",
    { body: named({ playbackPolicy: { type: "webhook" } }) },
    400,
    "missing-webhook",
    "playbackPolicy.webhookId is missing",
  ],
  [
    "a webhook policy with another's",
    "POST /api/stream",
    { body: named({ playbackPolicy: { type: "webhook", webhookId: NOBODY } }) },
    400,
    "bad-request",
    "webhook ID not found",
  ],
  [
    "an SRT passphrase of a stream",
    "POST /api/stream",
    { body: named({ srtPassphrase: "every0way0in" }) },
    501,
    "not-implemented",
    "set WEIR_SRT_PASSPHRASE, which all streams of this server share",
  ],
  [
    "a source of RTMP without a name",
    "POST /api/stream",
    { body: named({ pull: { source: "rtmp://example.com/live" } }) },
    400,
    "bad-request",
    "an RTMP source is rtmp://host/application/name",
  ],
  [
    "a camera of a network that is not open",
    "PUT /api/stream/pull",
    { body: named({ pull: { source: "http://10.0.0.4/live.ts" } }) },
    400,
    "private-address",
    "WEIR_PULL_NETWORKS",
  ],
  [
    "no source to pull",
    "PUT /api/stream/pull",
    { body: named({}) },
    400,
    "bad-request",
    "stream does not have a pull source",
  ],
  [
    "a webhook by ftp",
    "POST /api/webhook",
    { body: hook("ftp://example.com") },
    422,
    "invalid-body",
    "url must be an address that begins with http:// or https://",
  ],
  [
    "a webhook to localhost",
    "POST /api/webhook",
    { body: hook("http://localhost:3000") },
    400,
    "private-address",
    "set WEIR_ALLOW_PRIVATE_URLS=1",
  ],
  [
    "a webhook to a private network",
    "POST /api/webhook",
    { body: hook("http://192.168.1.2/") },
    400,
    "private-address",
    "does not call private addresses",
  ],
  [
    "a webhook for an unknown event",
    "POST /api/webhook",
    { body: { ...hook("https://example.com"), events: ["stream.exploded"] } },
    422,
    "invalid-body",
    "stream.started",
  ],
  [
    "a target by http",
    "POST /api/multistream/target",
    { body: { url: "http://example.com" } },
    422,
    "invalid-body",
    "url must be an address that begins with rtmp://, rtmps:// or srt://",
  ],
  [
    "an import by ftp",
    "POST /api/asset/upload/url",
    { body: { name: "a", url: "ftp://example.com/a.mp4" } },
    422,
    "invalid-body",
    "url must be an address that begins with http:// or https://",
  ],
  [
    "an import from localhost",
    "POST /api/asset/upload/url",
    { body: { name: "a", url: "http://localhost/a.mp4" } },
    400,
    "private-address",
    "WEIR_ALLOW_PRIVATE_URLS",
  ],
  ["a cursor of its own", "GET /api/stream?cursor=2", {}, 400, "bad-request", "take it from the Link header"],
  ["a filter that is none", "GET /api/stream?filters=name", {}, 400, "bad-request", "error parsing filters: not JSON"],
  [
    "seconds for milliseconds",
    `GET /data/stream/${id}/events?from=1700000000`,
    {},
    400,
    "bad-request",
    "milliseconds expected",
  ],
  [
    "a time that is none",
    `GET /data/stream/${id}/events?from=noon`,
    {},
    400,
    "bad-request",
    "from must be a whole number of milliseconds since the Unix epoch",
  ],
  [
    "a clip of nothing",
    "POST /api/clip",
    { body: { playbackId: "0000000000000000", startTime: 1 } },
    404,
    "not-found",
    "not found",
  ],
  ["no ids", "DELETE /api/stream", { body: {} }, 422, "missing-ids", "missing ids"],
  ["a room", "POST /api/room", { body: {} }, 501, "not-implemented", "no rooms yet"],
  [
    "a generated picture",
    "POST /api/generate/text-to-image",
    { body: {} },
    501,
    "not-implemented",
    "no generated media yet",
  ],
  ["an API key with a key", "POST /api/api-token", { body: {} }, 403, "forbidden", "access forbidden for API keys"],
];

function json(type = "application/json"): Record<string, string> {
  return { authorization: `Bearer ${kit.apiKey}`, "content-type": type };
}

describe("a wrong call gets an answer that says what to do", () => {
  it.each(rows)("%s: %s", async (_what, call, { body, headers }, status, code, says) => {
    const [method, url] = call.split(" ") as ["GET", string];
    const answer = await kit.call(method, url, body, headers);
    const { message, requestId, ...rest } = answer.json();
    expect([answer.statusCode, rest.code, message.toLowerCase()]).toEqual([
      status,
      code,
      expect.stringContaining(says.toLowerCase()),
    ]);
    expect([requestId, rest.errors.length]).toEqual([answer.headers["x-request-id"], 1]);
    expect(message).not.toMatch(/[\^$]|\[object|undefined/);
  });

  it("limit=abc is 20, as in the public API", async () => {
    const [abc, twenty] = [
      await kit.call("GET", "/api/stream?limit=abc"),
      await kit.call("GET", "/api/stream?limit=20"),
    ];
    expect([abc.statusCode, abc.json()]).toEqual([200, twenty.json()]);
  });
});
