import type { ServerAddress } from "@weir/contract";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startTestDomains } from "./domain-test-kit.ts";

const PROXY = "127.0.0.1";
const [direct, proxied, set] = await Promise.all([
  startTestDomains({ isPublicUrlSet: false, publicUrl: () => "http://localhost:8080" }),
  startTestDomains({ isPublicUrlSet: false, publicUrl: () => "http://localhost:8080" }, { proxies: [PROXY] }),
  startTestDomains(),
]);
afterAll(() => Promise.all([direct, proxied, set].map((kit) => kit[Symbol.asyncDispose]())));
type Kit = typeof direct;
type Headers = Record<string, string>;

beforeEach(() => Promise.all([direct, proxied, set].map((kit) => kit.db.deleteFrom("public_address").execute())));
beforeEach(() => {
  for (const kit of [direct, proxied, set]) kit.clock.advance(10_000);
});

const byKey = (kit: Kit): Headers => ({ authorization: `Bearer ${kit.apiKey}` });
const ingestAt = async (kit: Kit, headers: Headers) => {
  const [ingest] = (await kit.call("GET", "/api/ingest", undefined, headers)).json();
  return { base: ingest.base, rtmp: ingest.ingests.rtmp };
};
const address = async (kit: Kit): Promise<ServerAddress> => {
  kit.clock.advance(10_000);
  return (await kit.call("GET", "/api/dashboard/address")).json();
};
async function signIn(kit: Kit, apiKey = kit.apiKey): Promise<Headers> {
  const answer = await kit.call("POST", "/api/dashboard/sign-in", { apiKey }, { host: "door.example" });
  return { cookie: String(answer.headers["set-cookie"]).split(";")[0] ?? "", "x-weir-request": "1" };
}
const open = (kit: Kit, headers: Headers) => kit.call("GET", "/api/stream", undefined, headers);

describe("without WEIR_PUBLIC_URL", () => {
  it.each([
    ["192.0.2.7:8080", "http://192.0.2.7:8080", "rtmp://192.0.2.7:1935/live"],
    ["[2001:db8::7]:9000", "http://[2001:db8::7]:9000", "rtmp://[2001:db8::7]:1935/live"],
    ["nas.lan", "http://nas.lan", "rtmp://nas.lan:1935/live"],
  ])("an answer to a request to %s begins its addresses with it", async (host, base, rtmp) => {
    expect(await ingestAt(direct, { host })).toEqual({ base, rtmp });
    const next = await direct.call("POST", "/api/stream", { name: "s" }, { ...byKey(direct), host });
    const { playbackId } = next.json();
    const playback = await direct.call("GET", `/api/playback/${playbackId}`, undefined, { host });
    expect(playback.json().meta.source[0].url).toBe(`${base}/hls/${playbackId}/index.m3u8`);
  });

  it.each(["evil.example/path", "user@evil.example", "host:99999", "<b>", "0x7f.1", "bad host"])(
    "a host that nobody could be sent to (%j) is in no answer",
    async (host) => {
      expect((await ingestAt(direct, { host })).base).toBe("http://localhost:8080");
    },
  );

  it("an answer to one request says nothing in the answer to the next", async () => {
    await ingestAt(direct, { host: "evil.example" });
    expect(await ingestAt(direct, { host: "bad host" })).toMatchObject({ base: "http://localhost:8080" });
  });

  it("webhooks and events are told where an operator last opened the dashboard", async () => {
    expect(await address(direct)).toMatchObject({ address: "http://localhost:8080", source: "default" });
    const cookie = await signIn(direct);
    await open(direct, { ...cookie, host: "first.example:8080" });
    await open(direct, { ...cookie, host: "second.example" });
    expect(await address(direct)).toEqual({
      address: "http://second.example",
      source: "used",
      rtmp: "rtmp://second.example:1935/live",
      pinned: null,
      lastUsed: "http://second.example",
    });
    expect(direct.domains.publicUrl()).toBe("http://second.example");
  });

  it("another process on the same database tells the same", async () => {
    await open(direct, { ...(await signIn(direct)), host: "shared.example" });
    const other = direct.another("two");
    await other.node.join();
    expect(other.publicUrl()).toBe("http://shared.example");
    await other.node.leave();
    await other.close();
  });

  it("nothing that proves less than an operator's sign-in is remembered", async () => {
    const host = "evil.example";
    const cookie = await signIn(direct);
    await direct.call("POST", "/api/dashboard/sign-in", { apiKey: direct.apiKey }, { host });
    await ingestAt(direct, { host });
    await open(direct, { ...byKey(direct), host });
    await open(direct, { cookie: "weir=made-up", "x-weir-request": "1", host });
    await open(direct, { ...cookie, host: "bad host" });
    await open(direct, { ...cookie, host: "", "x-forwarded-host": host });
    const key = await direct.call("POST", "/api/api-token", { name: "customer" }, { ...cookie, host: "known.example" });
    await open(direct, { ...(await signIn(direct, key.json().key)), host });
    await open(direct, { ...cookie, host: "known.example", "x-forwarded-host": host, "x-forwarded-proto": "https" });
    expect(await address(direct)).toMatchObject({ address: "http://known.example", lastUsed: "http://known.example" });
  });

  it("a trusted proxy tells the host and that it speaks TLS", async () => {
    const forwarded = { host: "10.0.0.1:8080", "x-forwarded-host": "tv.example", "x-forwarded-proto": "https" };
    expect((await ingestAt(proxied, forwarded)).base).toBe("https://tv.example");
    await open(proxied, { ...(await signIn(proxied)), ...forwarded });
    expect((await address(proxied)).address).toBe("https://tv.example");
  });

  it("an operator pins an address, and lets it go", async () => {
    const cookie = await signIn(direct);
    const pin = (pinned: string | null) =>
      direct.call("PUT", "/api/dashboard/address", { address: pinned }, { ...cookie, host: "here.example" });
    expect((await pin("https://Live.example:8443/")).json()).toMatchObject({
      address: "https://live.example:8443",
      source: "pinned",
      rtmp: "rtmp://live.example:1935/live",
    });
    await open(direct, { ...cookie, host: "elsewhere.example" });
    expect((await address(direct)).address).toBe("https://live.example:8443");
    expect((await pin(null)).json()).toMatchObject({ address: "http://here.example", source: "used" });
    for (const wrong of ["live.example", "ftp://live.example", "https://live.example/path", "https://a@b.example"])
      expect((await pin(wrong)).statusCode).toBe(400);
    expect((await direct.call("PUT", "/api/dashboard/address", { address: null })).statusCode).toBe(403);
  });
});

it("WEIR_PUBLIC_URL overrules what requests say, and cannot be pinned over", async () => {
  const cookie = await signIn(set);
  await open(set, { ...cookie, host: "other.example" });
  expect((await ingestAt(set, { host: "other.example" })).base).toBe("http://weir.test");
  expect(await address(set)).toMatchObject({ address: "http://weir.test", source: "setting", lastUsed: null });
  const answer = await set.call("PUT", "/api/dashboard/address", { address: "http://other.example" }, cookie);
  expect([answer.statusCode, answer.json().errors[0]]).toEqual([400, expect.stringContaining("WEIR_PUBLIC_URL")]);
});
