import type { Access, CreatedApiToken, Stream } from "@weir/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestDomains, type TestDomains } from "../domain-test-kit.ts";

let kit: TestDomains;
let cookie: Record<string, string>;
let stream: Stream;
let other: Stream;

beforeAll(async () => {
  kit = await startTestDomains();
  const signedIn = await kit.call("POST", "/api/dashboard/sign-in", { apiKey: kit.apiKey }, {});
  cookie = { cookie: String(signedIn.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
  const body = { name: "stage" };
  stream = (await kit.call("POST", "/api/stream", body)).json();
  await kit.db
    .updateTable("stream")
    .set({ pull: JSON.stringify({ source: "https://example.com/hidden.flv" }) })
    .where("id", "=", stream.id)
    .execute();
  other = (await kit.call("POST", "/api/stream", { name: "other" })).json();
});

afterAll(() => kit[Symbol.asyncDispose]());

async function keyWith(access: Access | undefined): Promise<Record<string, string>> {
  const answer = await kit.call("POST", "/api/api-token", access ? { access } : {}, cookie);
  return { authorization: `Bearer ${answer.json<CreatedApiToken>().key}` };
}

/** Every address that answers with streams. */
const readings = () => [
  "/api/stream",
  `/api/stream/user/${stream.userId}`,
  `/api/stream/${stream.id}`,
  `/api/stream/playback/${stream.playbackId}`,
  `/api/stream/key/${stream.streamKey}`,
  `/api/stream/${stream.id}/info`,
  `/api/stream/${stream.playbackId}/info`,
];

/** The addresses that told the stream's key, of those that the key may read. */
async function tellers(headers: Record<string, string>): Promise<string[]> {
  const { streamKey = "" } = stream;
  const told: string[] = [];
  let read = 0;
  for (const url of readings()) {
    const { statusCode, body } = await kit.call("GET", url, undefined, headers);
    if (statusCode !== 200) continue;
    read++;
    expect(body).toContain(stream.playbackId);
    if (body.includes(streamKey)) told.push(url);
    expect([url, body.includes("hidden.flv")]).toEqual([url, body.includes(streamKey)]);
  }
  expect(read).toBeGreaterThan(0);
  return told;
}

it("a key without rules and a sign-in see stream keys wherever streams are shown", async () => {
  expect(await tellers(await keyWith(undefined))).toEqual(readings());
  expect(await tellers(cookie)).toEqual(readings());
});

it.each<[string, Access]>([
  ["may only read", { rules: [{ resources: ["*"], methods: ["get"] }] }],
  [
    "may change other things alone",
    {
      rules: [
        { resources: ["session/*", "webhook"], methods: ["*"] },
        { resources: ["stream/*", "stream"], methods: ["get"] },
      ],
    },
  ],
  ["stands in a page", { cors: { allowedOrigins: ["https://app.test"] } }],
  ["stands in a page and may do everything", { cors: { allowedOrigins: ["*"], fullAccess: true } }],
  [
    "stands in a page and has rules",
    { cors: { allowedOrigins: ["*"] }, rules: [{ resources: ["*"], methods: ["*"] }] },
  ],
])("a key that %s sees none", async (_, access) => {
  expect(await tellers(await keyWith(access))).toEqual([]);
});

it.each<[string, Access]>([
  ["everything", { rules: [{ resources: ["*"], methods: ["*"] }] }],
  ["streams", { rules: [{ resources: ["stream", "stream/*"], methods: ["get", "patch"] }] }],
  [
    "this one by its id",
    {
      rules: [
        { resources: ["stream/*", "stream"], methods: ["get"] },
        { resources: ["stream/THIS"], methods: ["patch"] },
      ],
    },
  ],
])("a key that may change %s sees its key", async (_, access) => {
  const rules = JSON.parse(JSON.stringify(access).replace("THIS", stream.id)) as Access;
  expect(await tellers(await keyWith(rules))).not.toEqual([]);
});

it("a key that may change one stream sees no other stream's key", async () => {
  const headers = await keyWith({
    rules: [
      { resources: ["stream/*", "stream"], methods: ["get"] },
      { resources: [`stream/${other.id}`], methods: ["patch"] },
    ],
  });
  expect(await tellers(headers)).toEqual([]);
  const { streamKey } = (await kit.call("GET", `/api/stream/${other.id}`, undefined, headers)).json<Stream>();
  expect(streamKey).toBe(other.streamKey);
});

it("a page that makes a stream is not told its key", async () => {
  const page = await keyWith({ cors: { allowedOrigins: ["https://app.test"] } });
  const made = await kit.call("POST", "/api/stream", { name: "of a page" }, page);
  expect(made.statusCode).toBe(201);
  expect(made.json()).not.toHaveProperty("streamKey");
  const open = await keyWith({ cors: { allowedOrigins: ["*"], fullAccess: true } });
  const rotated = await kit.call("POST", `/api/stream/${other.id}/rotate-key`, undefined, open);
  expect(rotated.statusCode).toBe(200);
  expect(rotated.json()).not.toHaveProperty("streamKey");
});
