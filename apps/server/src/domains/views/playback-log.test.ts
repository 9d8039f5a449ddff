import type { Stream, Viewership, ViewsNow } from "@weir/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Audiences } from "../../platform/audience/index.ts";
import { startTestDomains, type TestDomains } from "../domain-test-kit.ts";

let kit: TestDomains;
let stream: Stream;
beforeAll(async () => {
  kit = await startTestDomains();
});
afterAll(() => kit[Symbol.asyncDispose]());
beforeEach(async () => {
  kit.clock.advance(60_000);
  stream = (await kit.call("POST", "/api/stream", { name: "stage" })).json();
});

const send = (body: unknown, headers: Record<string, string> = {}, path = "/analytics/log") =>
  kit.call("POST", path, typeof body === "string" ? body : JSON.stringify(body), {
    "content-type": "text/plain",
    ...headers,
  });
const beacon = (session: string, ...types: string[]) => ({
  playback_id: stream.playbackId,
  session_id: session,
  protocol: "video/mp4",
  user_agent: "x",
  events: types.map((type) => ({ type, timestamp: 1, anything: {} })),
});

async function errorRate(): Promise<number | undefined> {
  kit.clock.advance(1_000);
  const path = `/data/views/now?playbackId=${stream.playbackId}`;
  return (await kit.call("GET", path)).json<ViewsNow[]>()[0]?.errorRate;
}

/** Headers that the parser tells apart. */
function forgedAgents(): string[] {
  const browsers = [
    ...["Chrome/9.0", "Firefox/9.0", "OPR/9.0", "Edg/9.0", "Vivaldi/9.0", "YaBrowser/9.0", "SamsungBrowser/9.0"],
    ...["UCBrowser/9.0", "Maxthon/9.0", "Epiphany/9.0", "Puffin/9.0", "Sleipnir/9.0", "K-Meleon/9.0", "Whale/9.0"],
    ...["MZBrowser/9.0", "Swing/9.0", "coast/9.0", "Focus/9.0", "QupZilla/9.0", "Iceweasel/9.0", "SeaMonkey/9.0"],
  ];
  const systems = [
    ...["Windows NT 10.0; Win64; x64", "Macintosh; Intel Mac OS X 10_15", "X11; Linux x86_64", "X11; CrOS x86_64 1"],
    ...["Linux; Android 14; Pixel 8 Mobile", "Linux; Android 14; Tablet", "iPhone; CPU iPhone OS 17_4 like Mac OS X"],
    ...["iPad; CPU OS 17_4 like Mac OS X", "Web0S; Linux/SmartTV", "Tizen 2.3; SMART-TV", "PlayStation 4 5.5"],
    ...["Windows Phone 10.0", "BlackBerry; BB10; Touch", "Roku/DVP-9.10", "Nintendo Switch; Tizen; X", "hpwOS/3.0"],
  ];
  const all = browsers.flatMap((browser) =>
    systems.map((system) => `Mozilla/5.0 (${system}) ${browser} Mobile Safari/9`),
  );
  const audiences = new Audiences(null);
  return [...new Map(all.map((agent) => [JSON.stringify(audiences.of(agent, "")), agent])).values()];
}

describe("what a player tells of itself", () => {
  it("is taken from any page without a key, as text or JSON, at three addresses", async () => {
    for (const path of ["/analytics/log", "/data/analytics/log", "/api/data/analytics/log"])
      expect((await send(beacon("a", "heartbeat"), { origin: "https://any.test" }, path)).statusCode).toBe(204);
    const json = await send(beacon("a", "heartbeat"), { "content-type": "application/json" });
    expect(json.statusCode).toBe(204);
  });

  it("counts one error of each player", async () => {
    kit.domains.eventSink.countViewers([
      { playbackId: stream.playbackId, now: 4, begun: 4, watchedMs: 0, newViewers: [] },
    ]);
    await send(beacon("a", "error", "heartbeat", "error"));
    await send(beacon("a", "error"));
    await expect.poll(errorRate).toBe(0.25);
    await send(beacon("b", "error"));
    await expect.poll(errorRate).toBe(0.5);
  });

  it("tells how soon pictures came and how long players waited, by browser", async () => {
    const chrome = {
      "user-agent":
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    };
    const heartbeat = { type: "heartbeat", time_playing_ms: 4_000, time_waiting_ms: 800, time_stalled_ms: 200 };
    const report = (session: string, ...events: object[]) => send({ ...beacon(session), events }, chrome);
    await report("a", { ...heartbeat, play_to_first_frame_ms: 300 });
    await report("a", { ...heartbeat, play_to_first_frame_ms: 300 });
    await report("b", { ...heartbeat, play_to_first_frame_ms: 500 });
    await report("c", { type: "heartbeat", time_waiting_ms: 1e12 }, { type: "heartbeat", time_playing_ms: "x" });
    const path = `/data/views/query?playbackId=${stream.playbackId}&breakdownBy=browser&breakdownBy=os`;
    const quality = async () => {
      kit.clock.advance(1_000);
      return (await kit.call("GET", path)).json<Viewership[]>();
    };
    await expect.poll(quality).toEqual([
      {
        browser: "Chrome",
        os: "Linux",
        viewCount: 0,
        playtimeMins: 0,
        errorRate: 0,
        // 12 s played, 3 s waited, and a minute at most of a player that says anything.
        ttffMs: 400,
        rebufferRatio: 0.84,
        exitsBeforeStart: 0.3333,
      },
    ]);
  });

  it.each<[string, unknown, number]>([
    ["no JSON", "{", 400],
    ["no object", "[]", 400],
    ["null", "null", 400],
    ["nothing", "", 400],
    ["no playback id", { playback_id: "../x", events: [] }, 400],
    ["too many events", { playback_id: "abcd000000000000", events: Array(201).fill({}) }, 400],
    ["no list of events", { playback_id: "abcd000000000000", events: {} }, 400],
    ["events of any shape", { playback_id: "abcd000000000000", events: [null, 1, "x", { type: {} }] }, 204],
    ["70 kB", JSON.stringify({ playback_id: "x".repeat(70_000) }), 413],
  ])("%s: %i", async (_situation, body, status) => expect((await send(body)).statusCode).toBe(status));

  it("is counted as of nobody known beyond 250 audiences in an hour, whatever the players call themselves", async () => {
    const rows = async () => {
      await kit.domains.eventSink.settle();
      kit.clock.advance(1_000);
      const of = kit.db.selectFrom("view_hour").where("playback_id", "=", stream.playbackId);
      return of.select(["browser", "heartbeats"]).orderBy("heartbeats", "desc").execute();
    };
    // In the same hour, in two minutes of it.
    kit.clock.advance(3_600_000 - (kit.clock.now() % 3_600_000));
    const forged = forgedAgents();
    expect(forged.length).toBeGreaterThan(260);
    for (const agent of forged) await send(beacon("a", "heartbeat"), { "user-agent": agent });
    await expect.poll(async () => (await rows()).length).toBe(251);
    const [unknown, ...others] = await rows();
    expect([unknown?.browser, Number(unknown?.heartbeats)]).toEqual(["", forged.length - 250]);
    expect(others.every(({ heartbeats }) => Number(heartbeats) === 1)).toBe(true);
    kit.clock.advance(3_600_000);
    await send(beacon("a", "heartbeat"), { "user-agent": forged.at(-1) ?? "" });
    await expect.poll(async () => (await rows()).length).toBe(252);
  });

  it("comes 1,200 times a minute from an address and no more", async () => {
    kit.clock.advance(60_000);
    for (let i = 0; i < 1_200; i++) await send(beacon("a"));
    const refused = await send(beacon("a"));
    expect([refused.statusCode, Number(refused.headers["retry-after"]) > 0]).toEqual([429, true]);
  });

  it("counts the addresses of one IPv6 /64 as one client, also as a proxy writes them with their ports", async () => {
    await using proxied = await startTestDomains({}, { proxies: ["127.0.0.1"] });
    const from = async (address: string) => {
      const headers = { "content-type": "text/plain", "x-forwarded-for": address };
      return (await proxied.call("POST", "/analytics/log", "{}", headers)).statusCode;
    };
    for (let i = 0; i < 1_200; i++) await from(`2001:db8:1:2::${i.toString(16)}`);
    expect(await from("[2001:db8:1:2:ffff::1]:5123")).toBe(429);
    expect(await from("[2001:db8:1:3::1]:5123")).toBe(400);
  });
});
